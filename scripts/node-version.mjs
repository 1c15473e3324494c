// Ends the process with a clear message when Node is too old to run Posthorn; import it before anything else.
// Written in the syntax of Node 12 on purpose: a newer word here would be a parse error instead of the message.
const needed = [20, 19]
const found = process.versions.node.split('.').map(Number)

if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  const neededText = needed.join('.')
  console.error(
    `Posthorn needs Node.js ${neededText} or newer; this is ${process.version} (${process.execPath}).\n` +
      'Install a current release (https://nodejs.org, or your version manager) and run the command again.',
  )
  process.exit(1)
}
