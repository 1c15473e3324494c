// Worker threads for what must not keep the event loop busy: every piece of work has a deadline, and a thread that misses it is
// ended in the midst of whatever it does.
import { Worker } from 'node:worker_threads'

export interface Threads {
  /** How many run at once. */
  readonly size: number
  /** What the entry's code replies; rejects with a ThreadFailure. */
  run(message: unknown, options?: RunOptions): Promise<unknown>
  close(): Promise<void>
}

export interface RunOptions {
  /** It has the next thread before those that wait without this, three times out of four. */
  readonly isFirst?: boolean
  /** Called when a thread begins it: until then it waits for others. */
  readonly onBegun?: () => void
}

/**
 * `late` and `broken`: it was begun, and took too long, or ended its thread. `busy`: it was not begun, as others took all the time.
 * `unavailable`: it was not begun, because no thread starts or it cannot be copied.
 */
export type ThreadFailureKind = 'late' | 'broken' | 'busy' | 'unavailable'

export class ThreadFailure extends Error {
  readonly kind: ThreadFailureKind

  constructor(kind: ThreadFailureKind, message: string) {
    super(message)
    this.name = 'ThreadFailure'
    this.kind = kind
  }
}

export interface ThreadsOptions {
  /** The module that runs in each: it says `ready` once, and then one reply to each message. */
  readonly entry: URL
  readonly size?: number
  readonly deadlineMs?: number
  /** What each may hold. */
  readonly heapMegabytes?: number
  /** How long a piece of work waits for a thread. Left out: as long as there are others before it. */
  readonly waitMsMax?: number
}

/** One is enough for what people try out; the other is there when something hostile keeps the first. */
const defaultSize = 2
/** What is bounded by its budget takes tenths of a second; a busy machine may need ten times as long. */
const defaultDeadlineMs = 5_000
/** Loading the module, on a machine that does much else. */
const startMsMax = 30_000
/** Waiting pieces of work, and as many that are first: more would not be done before their callers time out. */
const waitingMax = 500
/** The largest scopes and what comes of them need a tenth of it. */
const defaultHeapMegabytes = 256

interface Task {
  readonly message: unknown
  readonly onBegun: (() => void) | undefined
  /** Ends its wait for a thread. */
  waiting?: NodeJS.Timeout
  resolve(reply: unknown): void
  reject(failure: ThreadFailure): void
}

/** However many are first: otherwise a template that keeps all threads busy could not be tried and saved again, shorter. */
const othersEvery = 4

/** Those that wait for a thread, and which of them has the next. */
function createWaiting(): { readonly first: Task[]; readonly others: Task[]; next(): Task | undefined } {
  const [first, others]: [Task[], Task[]] = [[], []]
  let turns = 0
  const next = (): Task | undefined => {
    turns += 1
    return turns % othersEvery === 0 ? (others.shift() ?? first.shift()) : (first.shift() ?? others.shift())
  }
  return { first, others, next }
}

interface Slot {
  worker: Worker | undefined
  task: Task | undefined
}

export function createThreads({
  entry,
  size = defaultSize,
  deadlineMs = defaultDeadlineMs,
  heapMegabytes = defaultHeapMegabytes,
  waitMsMax,
}: ThreadsOptions): Threads {
  const slots: Slot[] = Array.from({ length: size }, () => ({ worker: undefined, task: undefined }))
  const { first, others, next } = createWaiting()

  const runNext = (slot: Slot): void => {
    const task = next()
    clearTimeout(task?.waiting)
    if (task !== undefined) void start(slot, task)
  }

  const wait = (task: Task, waiting: Task[]): void => {
    waiting.push(task)
    if (waitMsMax === undefined) return
    task.waiting = setTimeout(() => {
      waiting.splice(waiting.indexOf(task), 1)
      task.reject(new ThreadFailure('busy', `No thread was free within ${waitMsMax} ms`))
    }, waitMsMax)
  }

  const end = (slot: Slot, failure: ThreadFailure): Promise<unknown> => {
    const { task, worker } = slot
    Object.assign(slot, { worker: undefined, task: undefined })
    if (worker !== undefined) stopListening(worker)
    task?.reject(failure)
    runNext(slot)
    return worker?.terminate() ?? Promise.resolve()
  }

  async function start(slot: Slot, task: Task): Promise<void> {
    slot.task = task
    try {
      const worker = slot.worker ?? (await startWorker(entry, heapMegabytes))
      // Ended while it started.
      if (slot.task !== task) return void worker.terminate()
      slot.worker = worker
      task.onBegun?.()
      const reply = await replyOf(worker, task.message, deadlineMs)
      slot.task = undefined
      forgetIfItEnds(slot, worker)
      task.resolve(reply)
      runNext(slot)
    } catch (error) {
      const failure =
        error instanceof ThreadFailure ? error : new ThreadFailure('unavailable', (error as Error).message)
      if (slot.task === task) await end(slot, failure)
    }
  }

  return {
    size,
    run: (message, { isFirst = false, onBegun } = {}) =>
      new Promise((resolve, reject) => {
        const task: Task = { message, onBegun, resolve, reject }
        const free = slots.find((slot) => slot.task === undefined)
        const waiting = isFirst ? first : others
        if (free !== undefined) void start(free, task)
        else if (waiting.length < waitingMax) wait(task, waiting)
        else reject(new ThreadFailure('busy', `More than ${waitingMax} are waiting`))
      }),
    close: async () => {
      const stopped = new ThreadFailure('busy', 'The service is being stopped')
      for (const task of [...first.splice(0), ...others.splice(0)]) {
        clearTimeout(task.waiting)
        task.reject(stopped)
      }
      await Promise.all(slots.map((slot) => end(slot, stopped)))
    },
  }
}

/** One that breaks or ends while it is idle is replaced when the next task comes; without a listener it would end the process. */
function forgetIfItEnds(slot: Slot, worker: Worker): void {
  const forget = (): void => {
    if (slot.worker === worker) slot.worker = undefined
  }
  worker.once('error', forget)
  worker.once('exit', forget)
}

/**
 * To what was listened to here; a worker has listeners of its own. A listener for errors is always there: an
 * error without one would end the process.
 */
function stopListening(worker: Worker): void {
  for (const name of ['message', 'error', 'exit']) worker.removeAllListeners(name)
  worker.on('error', () => {})
}

/** The worker's next message, or why there is none in time. */
function replyOf(worker: Worker, message: unknown, deadlineMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    stopListening(worker)
    // A reply that came while this thread itself was busy is in time: it is read before the next turn.
    const late = setTimeout(() => {
      setImmediate(() => reject(new ThreadFailure('late', `It took longer than ${deadlineMs} ms`)))
    }, deadlineMs)
    const settled = (settle: () => void) => {
      clearTimeout(late)
      stopListening(worker)
      settle()
    }
    worker.once('message', (reply) => settled(() => resolve(reply)))
    worker.once('error', (error) => settled(() => reject(new ThreadFailure('broken', error.message))))
    worker.once('exit', () => settled(() => reject(new ThreadFailure('broken', 'The thread ended'))))
    try {
      worker.postMessage(message)
    } catch (error) {
      settled(() => reject(error as Error))
    }
  })
}

/** A thread that has loaded its module. It keeps no process alive. */
function startWorker(entry: URL, heapMegabytes: number): Promise<Worker> {
  const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: heapMegabytes } })
  worker.unref()
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      void worker.terminate()
      reject(new Error(`A thread did not start within ${startMsMax} ms`))
    }, startMsMax)
    worker.once('message', () => {
      clearTimeout(late)
      stopListening(worker)
      resolve(worker)
    })
    worker.once('error', (error) => {
      clearTimeout(late)
      reject(error)
    })
  })
}
