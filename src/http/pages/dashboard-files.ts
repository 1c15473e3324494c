// The built dashboard, held in memory: its pages' frame, its assets as they are and compressed, and the policy they run under.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

export interface DashboardFile {
  readonly type: string
  readonly etag: string
  readonly plain: Buffer
  readonly gzip: Buffer | undefined
  readonly br: Buffer | undefined
}

export interface DashboardFiles {
  /** The frame of every page. */
  readonly page: DashboardFile
  /** By their names below `assets`. */
  readonly assets: ReadonlyMap<string, DashboardFile>
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
}
const baseMark = '<base href="/" />'

/** Undefined where there is none: an installation without it serves the API alone. `basePath` ends with a slash. */
export function readDashboardFiles(folder: string, basePath: string): DashboardFiles | undefined {
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return undefined
  const page = readFileSync(index, 'utf8').replace(baseMark, `<base href="${escaped(basePath)}" />`)
  const names = readdirSync(join(folder, 'assets')).filter((name) => !/\.(?:br|gz)$/.test(name))
  return {
    page: pageFile(Buffer.from(page)),
    assets: new Map(names.map((name) => [name, assetFile(join(folder, 'assets', name))])),
  }
}

/** Compressed when it was built; what does not get smaller has no compressed copy. */
function assetFile(path: string): DashboardFile {
  const plain = readFileSync(path)
  const copy = (end: string) => (existsSync(`${path}${end}`) ? readFileSync(`${path}${end}`) : undefined)
  return { type: typeOf(path), etag: etagOf(plain), plain, gzip: copy('.gz'), br: copy('.br') }
}

function pageFile(plain: Buffer): DashboardFile {
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  return { type: typeOf('index.html'), etag: etagOf(plain), plain, gzip: gzipSync(plain), br }
}

const typeOf = (path: string): string => types[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
const etagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
