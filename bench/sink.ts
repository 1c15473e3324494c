// The sink as a bench sees it: how many messages came, and when.
import type { Process } from './service.ts'
import type { Stage } from './stage.ts'

export interface Sink {
  readonly port: number
  /** What has arrived since it was last asked: number and time of each. */
  take(): Promise<readonly [number: number, atMs: number][]>
  /** How many that are: to wait for them costs neither side's database anything. */
  count(): Promise<number>
  /** How long a message takes to be answered from now on. */
  setLatency(latencyMs: number): Promise<void>
}

export async function startSink(stage: Pick<Stage, 'startProgram'>): Promise<Sink> {
  const { port }: Process = await stage.startProgram('bench/sink-server.ts')
  return {
    port,
    take: async () => (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as [number, number][],
    count: async () => (await (await fetch(`http://127.0.0.1:${port}/count`)).json()) as number,
    setLatency: async (latencyMs) => {
      await (await fetch(`http://127.0.0.1:${port}/latency/${latencyMs}`)).text()
    },
  }
}

/** The clock that all processes of a machine share. */
export const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6
