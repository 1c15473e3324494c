// The prose of docs/reliability.md.

export const introduction = `Posthorn promises that what it acknowledged is delivered: after a crash, a lost database, a slow provider. This page
says how often that was tested, with what result. Every figure comes from \`npm run soak\`, and every run can be repeated
by its seed, as far as load and faults go.

The goal is 0 in every column but one: an e-mail may arrive twice when a fault falls into the middle of a call to its
provider, so that the outcome is unknown. Its activity then says so, and it is counted as marked. A copy without such a
mark counts as a failure.`

export const howItIsMeasured = `- The built service is started as an operator starts it, and killed with SIGKILL. Everything is seen from the outside.
- **The ledger.** A trigger that is answered with 201 is written to a file and synced to disk before it counts. A call whose
  answer was lost is repeated with the same \`transactionId\` or \`Idempotency-Key\` until it is acknowledged; that must not
  double anything. Some calls are sent by two clients at the same time.
- **The load** is drawn from the seed: in-app messages, e-mail through an HTTP provider that accepts one message per call,
  through one that accepts many, and by SMTP, SMS, digests, delays, cancelled events, topics of 500 and of 40 subscribers, in
  two environments, in single and in bulk calls, with and without recipients given inline, actors, tenants, contexts, texts
  of 20 kB and suppressed addresses. It is spread over the faults.
- **The providers** are sinks in a separate process, which is never killed. They count every message that arrived
  complete, by a marker in its text, and take between 5 ms and 2.5 s to answer.
- **A fault** follows the one before it after two to four seconds, counted from the start of the killed process. Where the
  start takes longer than that, it follows 0.2 to 1.5 s after \`/ready\`.
- **The verdict** is made from the ledger once nothing is unfinished: exactly one notification for every acknowledged
  recipient, every in-app message exactly once, every e-mail at least once, every event of a digest in exactly one digest,
  each message at its subscriber's address and in the words of its event, none to anyone else, no failed job, nothing
  buried. It compares the ledger with the rows of the database, with what the sinks counted and, for a sample, with the
  answers of the API.
- **The harness is tested as well.** After every clean scene the facts are falsified on purpose: a message removed from a sink's
  record must be reported as lost, a second copy as doubled, other words, another address or another subscriber each by
  its own name. A run whose harness overlooks one of them ends with an error.
- **Recovery.** Owed at a fault is every e-mail (and SMS that may be repeated) that was acknowledged and due and had not
  arrived. The first column is the time until one of them arrives, the second until all have, measured at every eighth
  fault, after which the service is left alone. With several nodes the time runs from the fault itself when another node
  was up. Times are median / 99 % / longest (number of measurements).`

export const notCovered = `- A power cut: processes are killed, the machine is not. What the disk does with a sync is PostgreSQL's matter.
- Real providers and networks: all connections are on the loopback interface.
- Push and chat. They take the same way as e-mail and SMS.
- Fail-over to a standby that is not synchronous can lose what PostgreSQL itself loses.
- Operators' mistakes, such as a restored backup or two services on one data directory.`
