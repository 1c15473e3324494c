// Lease tokens: each names its node in its first half, and no two are alike.
import { randomBytes } from 'node:crypto'
import type { LeaseRange } from './leases.ts'

export interface LeaseSource {
  /** The first half of all of them. */
  readonly key: bigint
  newLease(): string
  readonly all: LeaseRange
}

const nodeKeyBytes = 8

export function createLeaseSource(key: Buffer = randomBytes(nodeKeyBytes)): LeaseSource {
  const node = key.toString('hex')
  let counter = 0n
  return {
    key: key.readBigInt64BE(),
    newLease: () => {
      counter += 1n
      return leaseOf(node, counter.toString(16).padStart(16, '0'))
    },
    all: leasesOfNode(key.readBigInt64BE()),
  }
}

export function leasesOfNode(key: bigint): LeaseRange {
  const bytes = Buffer.alloc(nodeKeyBytes)
  bytes.writeBigInt64BE(key)
  const node = bytes.toString('hex')
  return { from: leaseOf(node, '0'.repeat(16)), to: leaseOf(node, 'f'.repeat(16)) }
}

/** Those of all nodes, known or not. */
export const everyLease: LeaseRange = {
  from: leaseOf('0'.repeat(16), '0'.repeat(16)),
  to: leaseOf('f'.repeat(16), 'f'.repeat(16)),
}

function leaseOf(node: string, tail: string): string {
  return `${node.slice(0, 8)}-${node.slice(8, 12)}-${node.slice(12)}-${tail.slice(0, 4)}-${tail.slice(4)}`
}
