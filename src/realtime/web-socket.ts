// What the protocols over WebSocket share: bounded both ways, and asked now and then whether the other side still lives.
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { bufferedBytesMax, framesPerPulseMax, pulseAnswerMs, pulseMs } from './limits.ts'

export interface Line {
  send(text: string): void
  /** All of it, or an end for one that has not read what it was sent before. */
  sendAll(texts: readonly string[]): void
  /** The other side gave a sign of life. */
  heard(): void
  close(code: number, reason: string): void
}

export interface LineHandlers {
  onText(text: string): void
  /** Once, however it ended. */
  onClose(): void
  /** Asks whether the other side lives. */
  ping(): void
}

/** Whoever does not answer a close is cut: the stop of the service waits for it. */
const closeMsMax = 1_000

/** Codes of RFC 6455. */
export const closing = { normal: 1000, goingAway: 1001, unsupported: 1003, refused: 1008, tooBusy: 1013 } as const

export interface OpenSocket {
  readonly socket: WebSocket
  /** The connection that it writes to. */
  readonly below: Duplex
}

export function openLine({ socket, below }: OpenSocket, handlers: LineHandlers): Line {
  let frames = 0
  let isClosing = false
  let death: NodeJS.Timeout | undefined
  const pulse = setInterval(() => {
    frames = 0
    handlers.ping()
    death ??= setTimeout(() => socket.terminate(), pulseAnswerMs)
  }, pulseMs)
  /** Whoever does not read is cut, and what it is sent not kept for ever: it goes on without a gap when it comes back. */
  const isTakingIn = (): boolean => {
    if (socket.bufferedAmount > bufferedBytesMax) socket.terminate()
    return socket.readyState === socket.OPEN
  }
  /** Frames of any kind count: an answer to each waits in memory until it is read. */
  const isAllowed = (): boolean => {
    if (isClosing) return false
    frames += 1
    line.heard()
    if (frames > framesPerPulseMax) line.close(closing.refused, 'Too many frames')
    return !isClosing
  }
  const line: Line = {
    send(text) {
      if (isTakingIn()) socket.send(text)
    },
    sendAll(texts) {
      if (!isTakingIn()) return
      // In one write: each costs a system call, which is more than a frame does.
      below.cork()
      for (const text of texts) socket.send(text)
      below.uncork()
    },
    heard() {
      if (socket.readyState !== socket.OPEN) return
      clearTimeout(death)
      death = undefined
    },
    close(code, reason) {
      // Once: what still comes must not put the end off.
      if (isClosing) return
      isClosing = true
      socket.close(code, reason)
      clearTimeout(death)
      death = setTimeout(() => socket.terminate(), closeMsMax)
    },
  }
  socket.on('message', (data, isBinary) => {
    if (!isAllowed()) return
    if (isBinary) line.close(closing.unsupported, 'Text frames only')
    else handlers.onText(String(data))
  })
  socket.on('pong', () => isAllowed())
  socket.on('ping', (data) => {
    if (isAllowed() && isTakingIn()) socket.pong(data)
  })
  // Broken frames and those that are too large; the close follows.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(pulse)
    clearTimeout(death)
    handlers.onClose()
  })
  return line
}
