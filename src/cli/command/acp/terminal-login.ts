import { createInterface } from 'node:readline/promises'
import { providers } from '../../../provider/index.ts'
import { runLoginCommand } from '../login/login.ts'

/** Stores a key; asks for the provider if none is named. */
export async function loginOnTerminal(provider: string | undefined): Promise<void> {
  await runLoginCommand([provider ?? (await askForProvider())])
}

async function askForProvider(): Promise<string> {
  const names = providers.filter(({ auth, keys }) => auth !== 'none' && keys.length > 0).map(({ id }) => id)
  process.stdout.write(`Providers: ${names.join(', ')}\n`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await terminal.question('Provider: ')).trim()
  } finally {
    terminal.close()
  }
}
