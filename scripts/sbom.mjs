// npm run sbom: prints the bill of materials of the lock file (CycloneDX 1.5); `-- --all` with what development needs.
import './node-version.mjs'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './ensure.mjs'
import { billOfMaterials } from './supply-chain.mjs'

const lock = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'))
process.stdout.write(
  `${JSON.stringify(billOfMaterials(lock, { all: process.argv.includes('--all') }), undefined, 2)}\n`,
)
