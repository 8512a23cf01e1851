#!/bin/sh
# Says when the tide turns.
exec voyage status
