// What a delivery is called: its status, and whether it is the first attempt.
import type { Schemas } from '../../api.ts'

type Delivery = Schemas['WebhookDelivery']

/** One that waits after an attempt is being retried. */
export const stateOf = ({ status, attempts }: Pick<Delivery, 'status' | 'attempts'>): string =>
  status === 'waiting' ? (attempts > 0 ? 'retrying' : 'queued') : status
