#!/usr/bin/env node
// The posthorn command: makes sure it is installed and built, then runs in this very process, so that signals reach it.
// Everything after the version check is imported late: an old Node could not even parse it.
import './node-version.mjs'

import('./launch.mjs').then(({ launch }) => launch(process.argv.slice(2)))
