#!/bin/sh
# Placeholder until the rules are written below.
exit 0
