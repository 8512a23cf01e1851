//! A machine of any size, as somebody would write it: a long way of phases with five edges each.

use std::fmt::Write as _;

/// A machine with this many phases that are not over, two that are, and five edges from each of the former.
pub(crate) fn machine(phases: usize) -> String {
    let mut text = String::from(
        "name = \"big\"\n\n[modes.big]\nstart = \"p0\"\n\n[fields]\nphase = { holds = \"phase\" }\nid = { holds = \"id\" }\n\
         root = { holds = \"root\" }\nsession = { holds = \"session\" }\nrevision = { holds = \"revision\" }\n\
         machine = { holds = \"machine\" }\ntries = { type = \"count\" }\nmost = { type = \"count\", initial = 3 }\n\
         state = { one_of = [\"none\", \"good\", \"bad\"] }\n",
    );
    for at in 0..phases {
        writeln!(
            text,
            "\n[phases.p{at}]\ndoc = \"Step {at} of the way.\"\n\
             on_stop = {{ require-file = {{ path = \"STEP-{at}\", written = \"go\", missing = [\"remind\", \"give_up\"] }} }}"
        )
        .unwrap();
    }
    text.push_str("\n[phases.done]\nterminal = true\n\n[phases.lost]\nterminal = true\n");
    for at in 0..phases {
        let (next, before) = (at + 1, at.saturating_sub(1));
        let next = if next == phases {
            "done".to_owned()
        } else {
            format!("p{next}")
        };
        writeln!(
            text,
            "\n[[transitions.go]]\nfrom = \"p{at}\"\nto = \"{next}\"\nset = {{ tries = 0, state = \"good\" }}\n\n\
             [[transitions.remind]]\nfrom = \"p{at}\"\nto = \"same\"\nwhen = \"tries < most\"\nset = {{ tries = \"tries + 1\" }}\n\n\
             [[transitions.give_up]]\nfrom = \"p{at}\"\nto = \"lost\"\nwhen = \"tries >= most\"\nset = {{ state = \"bad\" }}\n\n\
             [[transitions.back]]\nfrom = \"p{at}\"\nto = \"p{before}\"\nby = [\"person\"]"
        )
        .unwrap();
    }
    text.push_str(
        "\n[[transitions.cancel]]\nfrom = \"*\"\nto = \"lost\"\nby = [\"agent\", \"person\"]\n",
    );
    text
}
