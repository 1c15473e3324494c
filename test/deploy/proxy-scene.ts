// A proxy as a process of its own, with an example of deploy/ in which only ports and certificates are others.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyInPem, makeAuthority, makeServerCertificate } from '../support/certificates.ts'
import { until } from '../support/stream-scene.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'

export interface RunningProxy {
  /** Over TLS. */
  readonly url: string
  readonly plainUrl: string
  readonly ca: string
  stop(): Promise<void>
}

/** Debian has it where ordinary users do not look. */
const { PATH = '' } = process.env
const env = { ...process.env, PATH: `${PATH}:/usr/sbin:/sbin` }

export const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { env }).status === 0

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

interface Place {
  readonly folder: string
  readonly ports: readonly [plain: number, tls: number]
  readonly upstream: string
}

export async function startNginx(example: string, upstream: string): Promise<RunningProxy> {
  return await start(upstream, ({ folder, ports: [plain, tls] }) => {
    const text = changed(readProjectFile(example), [
      ['server 127.0.0.1:3000;', `server ${upstream};`],
      ['listen 443 ssl http2;', `listen 127.0.0.1:${tls} ssl http2;`],
      [/ssl_certificate \S+;/, `ssl_certificate ${folder}/server.pem;`],
      [/ssl_certificate_key \S+;/, `ssl_certificate_key ${folder}/server.key;`],
    ]).replace('listen 80;', `listen 127.0.0.1:${plain};`)
    writeFileSync(join(folder, 'example.conf'), text)
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const places = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
    const http = `http { access_log off; ${places} include ${folder}/example.conf; }`
    const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {} ${http}\n`
    writeFileSync(join(folder, 'nginx.conf'), main)
    return ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', '']
  })
}

export async function startCaddy(upstream: string): Promise<RunningProxy> {
  return await start(upstream, ({ folder, ports: [plain, tls] }) => {
    const site = changed(readProjectFile('deploy/caddy/Caddyfile'), [
      ['notify.example.com {', `https://localhost:${tls} {\n\ttls ${folder}/server.pem ${folder}/server.key`],
      ['reverse_proxy 127.0.0.1:3000', `reverse_proxy ${upstream}`],
    ])
    const options = `{\n\tadmin off\n\tgrace_period 1s\n\thttp_port ${plain}\n\thttps_port ${tls}\n\tskip_install_trust\n}\n`
    writeFileSync(join(folder, 'Caddyfile'), `${options}${site}`)
    return ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  })
}

/** Every replacement is of something that the example has. */
function changed(text: string, replacements: readonly (readonly [string | RegExp, string])[]): string {
  return replacements.reduce((before, [from, to]) => {
    const next = before.replace(from, to)
    assert.notEqual(next, before, `The example has no ${from}`)
    return next
  }, text)
}

async function start(upstream: string, commandOf: (place: Place) => string[]): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-proxy-'))
  mkdirSync(join(folder, 'home'))
  const authority = makeAuthority()
  const server = makeServerCertificate(authority, ['localhost', '127.0.0.1'])
  writeFileSync(join(folder, 'server.pem'), server.certificate)
  writeFileSync(join(folder, 'server.key'), keyInPem(server))
  const ports = [await freePort(), await freePort()] as const
  const [command = '', ...args] = commandOf({ folder, ports, upstream })
  const home = join(folder, 'home')
  const child = spawn(command, args, {
    env: { ...env, HOME: home, XDG_DATA_HOME: home },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  const stop = async () => {
    await ended(child)
    rmSync(folder, { recursive: true, force: true })
  }
  let isUp = false
  const look = setInterval(
    () =>
      void fetch(`http://127.0.0.1:${ports[1]}/`).then(
        () => (isUp = true),
        (error) => (isUp ||= !isRefused(error)),
      ),
    20,
  )
  try {
    await until(() => isUp || child.exitCode !== null)
    assert.equal(child.exitCode, null, output)
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearInterval(look)
  }
  return {
    url: `https://localhost:${ports[1]}`,
    plainUrl: `http://localhost:${ports[0]}`,
    ca: authority.certificate,
    stop,
  }
}

const isRefused = (error: { readonly cause?: { readonly code?: string } }): boolean =>
  error.cause?.code === 'ECONNREFUSED'

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const over = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await over
}
