// What is wrong with a part of the input, without the part's name.

export class Mistakes {
  readonly messages: readonly string[]

  constructor(messages: readonly string[]) {
    this.messages = messages
  }
}
