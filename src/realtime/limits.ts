// What one connection may take.

/**
 * With more than this unread, a connection is not sent anything else: it is cut, and goes on without a gap when it comes back.
 * A single look may be more, and must go through.
 */
export const bufferedBytesMax = 1024 * 1024
/** Clients say hardly more than `ping`. */
export const frameBytesMax = 16 * 1024
/** Frames of a client within one pulse; more is no inbox. */
export const framesPerPulseMax = 100
/** So often a connection is asked whether it still lives; proxies close those that are silent for a minute. */
export const pulseMs = 25_000
/** A connection that gave no sign for so long after it was asked is gone. */
export const pulseAnswerMs = 20_000
