// Whoever reads the log may go away (a collector that crashes, a journal that restarts): the service delivers all the same.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { postgresPid, ServiceScene } from '../support/service.ts'

const scene = new ServiceScene()
after(() => scene.close())

const key = 'a-key-of-an-unread-service'
/** More than one of them is answered by each of two processes. */
const calls = 20

for (const processes of ['1', '2']) {
  test(`a service of ${processes} whose log has no reader answers, and stops cleanly`, async () => {
    const service = await scene.start({
      POSTHORN_DATA_DIR: await scene.directory(),
      POSTHORN_API_KEY: key,
      POSTHORN_PROCESSES: processes,
      // Each of them writes a line.
      POSTHORN_LOG_LEVEL: 'debug',
    })
    service.stopReading()
    for (let number = 0; number < calls; number += 1) {
      const made = await service.call('POST', '/v1/tenants', key, { identifier: `tenant-${number}` })
      assert.equal(made.status, 201)
    }
    assert.equal((await service.stop()).code, 0)
  })
}

test('a service whose terminal is closed stops cleanly, with its database', async () => {
  const directory = await scene.directory()
  const service = await scene.start({ POSTHORN_DATA_DIR: directory, POSTHORN_API_KEY: key })
  service.stopReading()
  service.signal('SIGHUP')
  assert.equal((await service.ended).code, 0)
  assert.equal(await postgresPid(directory), undefined)
})
