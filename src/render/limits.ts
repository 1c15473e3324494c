// Limits of rendering. They count work, not time: the same template with the same data always ends the same way.

/** One text of a template. Designed newsletters stay below 150,000 characters. */
export const templateLengthMax = 250_000
/** Outputs and tags in one text: what parsing costs grows faster than their number. */
export const codesMax = 3_000
/** Outputs and tags in all texts of a workflow: they are parsed together when it is saved or tried, in some 80 ms. */
export const workflowCodesMax = 10_000
/** One output or tag. */
export const codeLengthMax = 10_000
/** Blocks within blocks. Parsing and rendering recurse. */
export const nestingMax = 50
/** A value of a condition is a word or a line. */
export const valueLengthMax = 10_000
/** Outputs, tags, turns of a loop, filters and comparisons in one message: about 100 ms on a slow core. */
export const stepsMax = 30_000
/** Characters and list members that pass through filters and outputs in one message. */
export const workMax = 2_000_000
/** The length of one rendered message. Mailboxes truncate at 100,000. */
export const outputLengthMax = 1_000_000
/** An in-app message is read in a corner of a screen. */
export const inAppLengthMax = 100_000
/** What carriers join into one SMS, what a push service accepts (4 KB), and what Slack shows before it truncates. */
export const textLengthsMax = { sms: 5_000, push: 5_000, chat: 40_000 } as const
/** Tags in a document that is sanitised, inlined or read as text: an unmatched one is looked for among all open ones. */
export const markupMax = 20_000
/** Tags in what is sanitised, of all blocks of a message: 7 µs each, links 40. */
export const sanitizedTagsMax = 5_000
/** Elements that are open at once, in a document that has many. */
export const markupDepthMax = 500
/** Longer is not a subject; mail programs show about sixty. */
export const subjectLengthMax = 500
export const senderNameLengthMax = 200
export const preheaderLengthMax = 500
/** Browsers and mail programs truncate longer ones. */
export const addressLengthMax = 4_000
/** Blocks of an e-mail in the editor. */
export const blocksMax = 200
/** Strings in the custom data of an in-app message, at any depth. */
export const dataTextsMax = 200
export const dataDepthMax = 10

/** A limit was reached. Thrown within LiquidJS, and worded for the author of the template. */
export class LimitExceeded extends Error {}

/** What an entry costs that is found by going through an object, in units of work: 0.1 to 0.4 µs. */
const entryWeight = 8
/** Characters that are only looked at, for one unit of work: a number is read, two texts are compared. */
const readPerUnit = 16
/** Creating a formatter for a zone or a language takes as long as this many steps. */
const formatterSteps = 150

/** What may be rendered on the main thread: about 10 ms on a slow core. More is left to a thread. */
export const smallShare = 0.1

/** The values of all conditions that are evaluated for a job, of what a message may cost: about 10 ms on a slow core. */
export const conditionsShare = 0.1
/** What each of them has in any case: twenty steps, which is more than a name with a filter takes. */
export const shortValueShare = conditionsShare / 150
/** Characters of a condition's value, for one step: parsing them takes longer, but is done once for many jobs. */
export const parsedPerStep = 8

/** What one message may still cost: every step is charged its cost, in advance if that is known. */
export class Budget {
  readonly now: () => Date
  #steps = 0
  #work = 0
  #output = 0
  #keys: Map<object, readonly string[]> | undefined
  #formatters: Set<string> | undefined

  readonly #share: number
  #isExceeded = false

  #hasOwnTexts = false
  #fallbackLocale: string | undefined

  /** The locale of a translated text, and whether it is the subscriber's own. */
  readonly noteLocale = (locale: string, isOwn: boolean): void => {
    if (isOwn) this.#hasOwnTexts = true
    else this.#fallbackLocale ??= locale
  }

  /** The language of the texts so far, where none of them was in the subscriber's own. */
  get fallbackLocale(): string | undefined {
    return this.#hasOwnTexts ? undefined : this.#fallbackLocale
  }

  /** `share`: how much of what a message may cost in steps and work. */
  constructor(now: () => Date, share = 1) {
    this.now = now
    this.#share = share
  }

  /** Whether it ended because of its cost, with less than a message may cost. */
  get isTooSmall(): boolean {
    return this.#isExceeded && this.#share < 1
  }

  /** What it has cost so far, of what a message may cost. */
  get usedShare(): number {
    return Math.max(this.#steps / stepsMax, this.#work / workMax)
  }

  /**
   * This many characters or list items are read or created. Filters of LiquidJS call it too, with whatever they were
   * given.
   */
  use(given: number): void {
    // A string would be appended to the sum, which would then not be a number and never too large.
    const count = typeof given === 'number' ? given : Number(given)
    if (!(count > 0)) return
    this.#work += count
    if (this.#work > workMax * this.#share) {
      this.#isExceeded = true
      throw new LimitExceeded(`the template processes more than ${workMax} characters or list items`)
    }
  }

  /** A text of this length is looked at. */
  read(length: number): void {
    this.use(length / readPerUnit)
  }

  /**
   * A zone or a language that the template names is used: paid in full once per message, whether or not its formatter
   * is cached, so that the same template always ends the same way.
   */
  format(name: string): void {
    this.#formatters ??= new Set()
    this.steps(this.#formatters.has(name) ? 1 : formatterSteps)
    this.#formatters.add(name)
  }

  /** One more thing is rendered, filtered or compared. */
  check(): void {
    this.steps(1)
  }

  /** For what takes as long as this many ordinary steps. */
  steps(count: number): void {
    this.#steps += count
    if (this.#steps > stepsMax * this.#share) {
      this.#isExceeded = true
      throw new LimitExceeded(`the template takes more than ${stepsMax} steps: does it loop forever?`)
    }
  }

  /** This many characters are written. */
  write(length: number): void {
    this.#output += length
    if (this.#output > outputLengthMax) {
      throw new LimitExceeded(`the output of the template is longer than ${outputLengthMax} characters`)
    }
  }

  /** The names in an object: found and charged once per message, however often its template needs them. */
  keysOf(object: object): readonly string[] {
    this.#keys ??= new Map()
    const known = this.#keys.get(object)
    if (known !== undefined) return known
    const keys = Object.keys(object)
    this.use(entryWeight * (keys.length + 2))
    this.#keys.set(object, keys)
    return keys
  }

  /** Looking for a long text in a long text can cost the product of both lengths. */
  search(text: string, pattern: string): void {
    this.use(text.length + Math.floor((text.length * pattern.length) / searchedPerUnit))
  }
}

/** About what one unit of work costs, in compared characters. */
const searchedPerUnit = 64
