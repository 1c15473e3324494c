// posthorn subscribers import: brings people from a file into an environment, quickly, and goes on where it was stopped.
import { resolve } from 'node:path'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed } from './command.ts'
import { readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import { sendBatches } from './transfer/batches.ts'
import type { Sent } from './transfer/people.ts'
import { batchesAtOnce, peoplePerBatch, sendPeople, subscriberReader, withKnownMembers } from './transfer/people.ts'
import { createMeter, createSaver, errorWords, openCheckpoint, openErrors } from './transfer/progress.ts'
import type { Row, RowFile } from './transfer/rows.ts'
import { openRows } from './transfer/rows.ts'
import { ownEnvironment } from './workflows/remote-configuration.ts'

export const subscribersCommand: Command = {
  name: 'subscribers',
  about:
    'Creates and updates subscribers from a CSV file with a header, or from JSON lines in the fields of POST ' +
    '/v2/subscribers. Rows that are wrong are written to a file with their line and the reason; the others are ' +
    'imported. A stopped import goes on where it was.',
  examples: [
    'posthorn subscribers import people.csv      # subscriberId,email,firstName,timezone,data.plan',
    'posthorn subscribers import people.jsonl --errors wrong.jsonl --environment Production',
  ],
  usage: [`subscribers import FILE [--errors FILE] [--restart] ${serviceUsage}`],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(subscribersCommand, args, {
      errors: { type: 'string' },
      restart: { type: 'boolean', default: false },
    })
    const [action, file, ...more] = positionals
    if (action !== 'import' || file === undefined || more.length > 0) throw wrongCall(subscribersCommand)
    const rows = await openRows(file, subscriberReader)
    const client = await clientFor(terminal, values)
    const { _id: environmentId, name } = await ownEnvironment(client)
    const work = { file: resolve(file), bytes: rows.bytes, url: client.url, environmentId }
    const checkpoint = await openCheckpoint<Imported>(`${file}.progress`, work, { restart: values.restart })
    const before = checkpoint.state ?? nothing
    const errors = await openErrors(values.errors ?? `${file}.errors.jsonl`, { goesOn: before.rows > 0 })
    if (before.rows > 0) terminal.note(`Going on after row ${before.rows}.`)
    const meter = createMeter(terminal, 'rows', before.rows)
    let total = before
    const saver = createSaver(checkpoint)
    const signal = terminal.untilStopped()
    const caller = { pause: terminal.pause, signal }
    await sendBatches({
      rows: after(rows, before.rows),
      size: peoplePerBatch,
      atOnce: batchesAtOnce,
      signal,
      send: async (batch) => {
        const sent = await sendPeople(caller, client, batch)
        await errors.add(sent.errors)
        return sent
      },
      onDone: (batch, sent) => {
        total = plus(total, batch.length, sent)
        saver.reached(total)
        meter.at(total.rows, rows.bytesRead() / rows.bytes)
      },
    }).finally(saver.settled)
    if (signal.aborted)
      throw new CommandFailed(`Stopped after ${total.rows} rows. The same command goes on from there.`)
    await checkpoint.remove()
    report(terminal, { total, name, json: values.json, words: `${meter.words()}.${errorWords(errors)}` })
  },
}

interface Imported {
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly failed: number
}

const nothing: Imported = { rows: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }

const plus = (one: Imported, rows: number, { created, updated, unchanged, errors }: Sent): Imported => ({
  rows: one.rows + rows,
  created: one.created + created,
  updated: one.updated + updated,
  unchanged: (one.unchanged ?? 0) + unchanged,
  failed: one.failed + errors.length,
})

async function* after(file: RowFile, count: number): AsyncGenerator<Row> {
  let place = 0
  for await (const row of file.rows()) {
    place += 1
    if (place > count) yield withKnownMembers(row)
  }
}

interface Report {
  readonly total: Imported
  readonly name: string
  readonly json: boolean
  readonly words: string
}

/** Fails if a row did, so that a script sees it. */
function report({ print, note }: Terminal, { total, name, json, words }: Report): void {
  if (json) print(visibleJson(total))
  else {
    const { created, updated, unchanged } = total
    const same = unchanged === 0 ? '' : ` ${unchanged} were as in the file already.`
    print(visible(`${created} subscribers created and ${updated} updated in ${name}.${same}`))
  }
  note(words)
  if (total.failed > 0) throw new CommandFailed(`${total.failed} of ${total.rows} rows were not imported.`)
}
