// What a command runs in, the process or a test double, and its terminal.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileVariable } from '../../config/secret-files.ts'
import type { Config, Environment } from '../../config.ts'
import { ConfigError, readConfig } from '../../config.ts'
import type { Command, Terminal } from '../command.ts'
import { UsageError } from '../command.ts'

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
type Signal = 'SIGINT' | 'SIGTERM'

export interface Host {
  readonly env: Environment
  readonly stdout: Stream
  readonly stderr: Stream
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  exitCode?: number | string | null | undefined
  once?(signal: Signal, listener: () => void): unknown
  /** Instead of the passing of time. */
  pause?(ms: number, signal: AbortSignal): Promise<void>
}

export interface ReadSettings {
  readonly config: Config
  readonly warnings: readonly string[]
  readonly mistakes: readonly string[]
}

/** A command that looks for errors gets the defaults of all other settings. */
export function settingsOf(command: Command, env: Environment): ReadSettings {
  try {
    return { ...readConfig(env), mistakes: [] }
  } catch (error) {
    if (!(error instanceof ConfigError) || command.runsWithMistakes !== true) throw error
    return { ...withoutMistaken(env, error.mistakes), mistakes: error.mistakes }
  }
}

/** Every error begins with the name of its variable. */
function withoutMistaken(env: Environment, mistakes: readonly string[]): Omit<ReadSettings, 'mistakes'> {
  const left = { ...env }
  for (const mistake of mistakes) {
    const [variable = ''] = mistake.split(' ', 1)
    delete left[variable]
    delete left[fileVariable(variable)]
  }
  try {
    return readConfig(left)
  } catch {
    // One that stands under its other name.
    return readConfig({})
  }
}

type OfHost = Omit<Terminal, 'config' | 'settings' | 'log'>

export function terminalOf(host: Host, { outlivesReader }: { outlivesReader: boolean }): OfHost {
  const { stdout, stderr } = host
  const stopping = new AbortController()
  const stop = (): void => stopping.abort()
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A log whose reader has gone, or whose disk is full, is no reason to stop delivering.
      if (outlivesReader) return
      // `posthorn outbox 2>&1 | head` reads as much as it wants: that is no mistake.
      if (error.code !== 'EPIPE') throw error
      if (stream === stdout) stop()
    })
  }
  return {
    width: stdout.isTTY === true ? stdout.columns : undefined,
    print: (line) => void stdout.write(`${line}\n`),
    write: (bytes) => void stdout.write(bytes),
    note: (line) => void stderr.write(`${line}\n`),
    readInput: (bytesMax) => readAll(host.stdin, bytesMax),
    untilStopped: () => {
      host.once?.('SIGINT', stop)
      host.once?.('SIGTERM', stop)
      return stopping.signal
    },
    pause: (ms, signal) => (host.pause ?? realPause)(ms, signal),
    ...askOn(host),
  }
}

const realPause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})

async function readAll(stdin: Host['stdin'], bytesMax: number): Promise<string> {
  if (stdin === undefined) throw new UsageError('There is no standard input to read from')
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of stdin) {
    const read = Buffer.from(part)
    bytes += read.length
    if (bytes > bytesMax) throw new UsageError(`The standard input is larger than ${bytesMax} bytes`)
    parts.push(read)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Only if both ends are a terminal. */
function askOn({ stdin, stdout }: Host): Pick<Terminal, 'ask' | 'askSecret'> {
  if (stdin === undefined || stdin.isTTY !== true || stdout.isTTY !== true) return {}
  const answer = async (options: { output: NodeJS.WritableStream; terminal?: true }, question: string) => {
    const reader = createInterface({ input: stdin, ...options })
    // Ctrl-C and Ctrl-D close it, and no answer follows.
    const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')))
    try {
      return await Promise.race([reader.question(question), closed])
    } finally {
      reader.close()
    }
  }
  return {
    ask: (question) => answer({ output: stdout }, question),
    askSecret: async (question) => {
      stdout.write(question)
      // As a terminal, readline echoes what is typed itself: to nowhere.
      const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
      const typed = await answer({ output: unseen, terminal: true }, '')
      stdout.write('\n')
      return typed
    },
  }
}
