// The metrics of all processes, collected by their parent: whichever is asked responds for the whole service.
import type { JoinMetrics, MetricFamily } from '../http/metrics/shared-metrics.ts'
import { addedUp, countsOf } from '../http/metrics/shared-metrics.ts'
import type { Child, ToChild, ToParent } from './child-messages.ts'

type Families = readonly MetricFamily[]

export interface ServiceMetricsParts {
  /** Those that can be asked, by their numbers. */
  children(): ReadonlyMap<number, Child>
  restarts(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** A process that is busy for longer is reported as it last was. */
const answerWithinMs = 1_000
/** The parent waits as long as above for the slowest. */
const allWithinMs = 5_000

/** In the parent. */
export class ServiceMetrics {
  readonly #parts: ServiceMetricsParts
  readonly #last = new Map<number, Families>()
  readonly #waiting = new Map<number, { readonly number: number; resolve(): void }>()
  /** The last known counts of processes that ended: a sum that decreased would look like a restart. */
  #ended: Families = []
  #folding: Promise<void> = Promise.resolve()
  #questions = 0

  constructor(parts: ServiceMetricsParts) {
    this.#parts = parts
  }

  answered(question: number, families: Families): void {
    const waiting = this.#waiting.get(question)
    if (waiting === undefined) return
    this.#last.set(waiting.number, families)
    waiting.resolve()
  }

  childEnded(number: number): void {
    for (const waiting of this.#waiting.values()) if (waiting.number === number) waiting.resolve()
    const last = this.#last.get(number)
    this.#last.delete(number)
    if (last === undefined) return
    const fold = async (): Promise<void> => {
      this.#ended = await addedUp([this.#ended, countsOf(last)])
    }
    // Counts that cannot be added are left out: metrics end no process.
    this.#folding = this.#folding.then(fold).catch(() => {})
  }

  async ofAll(): Promise<Families> {
    const children = this.#parts.children()
    await Promise.all([...children].map(([number, child]) => this.#ask(number, child)))
    await this.#folding
    const living = [...this.#last.values()]
    return addedUp([this.#ended, ...living, this.#own(children.size)])
  }

  async #ask(number: number, child: Child): Promise<void> {
    this.#questions += 1
    const question = this.#questions
    const answered = new AbortController()
    this.#waiting.set(question, { number, resolve: () => answered.abort() })
    child.send({ kind: 'ask-metrics', question })
    await this.#parts.sleep(answerWithinMs, answered.signal)
    this.#waiting.delete(question)
  }

  #own(processes: number): Families {
    const one = (name: string, type: string, help: string, value: number): MetricFamily => {
      return { name, help, type, aggregator: 'sum', values: [{ labels: {}, value }] }
    }
    return [
      one('posthorn_processes', 'gauge', 'Processes of this service that have started.', processes),
      one(
        'posthorn_process_restarts_total',
        'counter',
        'Processes of this service that ended and were started again.',
        this.#parts.restarts(),
      ),
    ]
  }
}

export interface MetricsLink {
  send(message: ToParent): void
  onMessage(listener: (message: ToChild) => void): void
}

/** In a child: answers the parent's queries, and asks it for the metrics of all. */
export function joinMetricsBy(link: MetricsLink): JoinMetrics {
  return (readOwn) => {
    const waiting = new Map<number, (families: Families) => void>()
    let questions = 0
    link.onMessage((message) => {
      if (message.kind === 'metrics') waiting.get(message.question)?.(message.families)
      if (message.kind !== 'ask-metrics') return
      const { question } = message
      // A failing request is not answered: the parent returns what it knows.
      readOwn().then(
        (families) => link.send({ kind: 'metrics', question, families }),
        () => {},
      )
    })
    return () => {
      questions += 1
      const question = questions
      let late: NodeJS.Timeout | undefined
      return new Promise<Families>((resolve, reject) => {
        late = setTimeout(() => reject(new Error('Not all processes returned their metrics')), allWithinMs)
        waiting.set(question, resolve)
        link.send({ kind: 'ask-metrics', question })
      }).finally(() => {
        clearTimeout(late)
        waiting.delete(question)
      })
    }
  }
}
