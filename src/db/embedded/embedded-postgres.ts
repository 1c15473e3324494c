// The embedded PostgreSQL: real server programs from npm, started beside the service, watched, adopted after a crash and stopped.
import { rm } from 'node:fs/promises'
import type { Log } from '../../world/log.ts'
import { findPackage, prepareBinaries } from './embedded-binaries.ts'
import { databaseUser, ensureCluster, refuseOtherMajor } from './embedded-cluster.ts'
import { unusableDirectory } from './embedded-error.ts'
import { type Holding, takeHold } from './embedded-holder.ts'
import { chooseHome, type Home, makeHome, shortNameOf, stateDirectories } from './embedded-home.ts'
import { removeLeftovers } from './embedded-leftovers.ts'
import { boundLogFile } from './embedded-log-file.ts'
import { bringUp, isRunning, type Running, stopPostmaster } from './embedded-postmaster.ts'
import { databaseName, type EmbeddedServer, socketPort } from './embedded-server.ts'

export { EmbeddedPostgresError } from './embedded-error.ts'

export interface EmbeddedPostgres {
  /** Where to connect: the directory of the unix socket is the host. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** The directory actually used: another than asked for when PostgreSQL's user cannot enter that one. */
  readonly dataDirectory: string
  /** It was already running and was adopted. */
  readonly adopted: boolean
  /** The database was made now. */
  readonly initialised: boolean
  /** Stops the server and gives up the data directory. May be called again. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  /** Everything goes below it: the database in `postgres`, the socket in `socket`. */
  readonly dataDirectory: string
  readonly log: Log
  /** As root: the user to run PostgreSQL as. Default: the owner of the existing data, otherwise the user `nobody`. */
  readonly runAs?: { readonly uid: number; readonly gid: number } | undefined
  /** More PostgreSQL settings. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** `${process.platform}-${process.arch}`. */
  readonly platform?: string | undefined
  /** `$XDG_STATE_HOME`: where data and programs go (in `posthorn`) when PostgreSQL's user cannot enter the project. Default: /var/lib. */
  readonly stateHome?: string | undefined
  /** Where the platform package is, if not in node_modules. */
  readonly packageRoot?: string | undefined
}

const watchEveryMs = 1000
const revivalPauseMsMax = 30_000

/** Disk errors, at any point of the start, become a sentence. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await startOnDisk(options)
  } catch (error) {
    throw (await unusableDirectory(options.dataDirectory, error)) ?? error
  }
}

async function startOnDisk(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log, settings = {} } = options
  const source = await findPackage(options.platform ?? `${process.platform}-${process.arch}`, options.packageRoot)
  const elsewhere = stateDirectories(options.stateHome)
  const home = await chooseHome(options.dataDirectory, options.runAs, elsewhere)
  await refuseOtherMajor(home, Number.parseInt(source.version, 10))
  await makeHome(home)
  const binaries = await prepareBinaries(source, home.identity, [...elsewhere, home.dataDirectory])
  if (home.moved || binaries.copied) {
    log.info(
      { data: home.dataDirectory, programs: binaries.postgres, user: home.identity.uid },
      `PostgreSQL runs as user ${home.identity.uid}, who cannot use the directories of the project: ` +
        `its data is in ${home.dataDirectory}, its programs are in ${binaries.postgres}`,
    )
  }
  const socketName = await shortNameOf(home.socketDirectory)
  const directory = { path: home.socketDirectory, shortName: socketName }
  const holding = await takeHold(directory, home.identity, home.dataDirectory)
  try {
    const initialised = await ensureCluster(home, binaries, settings['fsync'] !== 'off')
    await removeLeftovers(home, binaries)
    const server: EmbeddedServer = { home, binaries, socketName, settings }
    const running = await bringUp(server, log)
    log.info(
      { postgresPid: running.pid, data: home.cluster, initialised },
      running.adopted ? 'PostgreSQL adopted' : 'PostgreSQL started',
    )
    return {
      connection: { host: socketName, port: socketPort, user: databaseUser, database: databaseName },
      dataDirectory: home.dataDirectory,
      adopted: running.adopted,
      initialised,
      stop: watch(server, running, holding, log),
    }
  } catch (error) {
    holding.release()
    throw error
  }
}

/**
 * Restarts the server when it dies, keeps its log bounded and its short name in place. Returns a function that stops
 * this.
 */
function watch(server: EmbeddedServer, first: Running, holding: Holding, log: Log): () => Promise<void> {
  let running = first
  let look: Promise<void> = Promise.resolve()
  let failures = 0
  const lookAfter = async () => {
    try {
      await keepShortName(server.home, server.socketName, log)
      await boundLogFile(server.home.cluster)
      if (await isRunning(server, running)) return
      log.error({ postgresPid: running.pid }, 'PostgreSQL ended unexpectedly: starting it again')
      running = await bringUp(server, log)
      log.info({ postgresPid: running.pid }, 'PostgreSQL started again')
      failures = 0
    } catch (error) {
      failures++
      log.error({ error, failures }, 'cannot supervise PostgreSQL')
    }
  }
  let timer: NodeJS.Timeout
  const schedule = () => {
    const pauseMs = Math.min(watchEveryMs * 2 ** failures, revivalPauseMsMax)
    timer = setTimeout(() => {
      look = lookAfter().then(() => {
        if (!stopped) schedule()
      })
    }, pauseMs).unref()
  }
  schedule()
  let stopped: Promise<void> | undefined
  const stop = async () => {
    clearTimeout(timer)
    await look
    try {
      await stopPostmaster(server, running.pid)
    } finally {
      holding.release()
    }
    if (server.socketName !== server.home.socketDirectory) await rm(server.socketName, { force: true })
    log.info({ postgresPid: running.pid }, 'PostgreSQL stopped')
  }
  return () => {
    stopped ??= stop()
    return stopped
  }
}

/** Cleaners of /tmp remove what looks old, and without the name no client can connect. */
async function keepShortName(home: Home, socketName: string, log: Log): Promise<void> {
  const name = await shortNameOf(home.socketDirectory)
  if (name !== socketName) log.error({ socketName, name }, 'the short name of the socket was taken by another user')
}
