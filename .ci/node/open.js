// The test plays the browser of a stock client: what is printed after "open " is opened
// there, and the address that the browser comes back to is read from standard input.
import readline from 'node:readline'

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()

// open gives the address that the browser comes back to.
export async function open(address) {
  console.log(`open ${address.href}`)
  return new URL((await answers.next()).value)
}
