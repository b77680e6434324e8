import { readFileSync } from 'node:fs'
import { SCRIPTS } from '../../rehearsal/scripts/scripts.ts'
import { startRehearsal } from '../../rehearsal/server.ts'
import type { Script } from '../../rehearsal/script.ts'
import { readScript } from '../../rehearsal/script-schema.ts'
import { Complaint, EXIT } from '../exit.ts'
import { REHEARSE } from '../manual/rehearse.ts'
import { parseLine } from '../line/parse.ts'
import { showHelp } from '../line/show-help.ts'

/** `dragoman rehearse serve`: the scripted model as a server for other clients. */
export async function rehearseCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseLine('dragoman rehearse', REHEARSE.options, args)
  if (positionals.length === 0) return showHelp('rehearse')
  if (positionals[0] !== 'serve') throw new Complaint(`dragoman rehearse knows serve, not “${positionals[0]}”`)
  const port = values.port === undefined ? 0 : Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Complaint(`--port ${values.port} is not a port`)
  const scripts = values.script === undefined ? SCRIPTS : { ...SCRIPTS, script: scriptIn(values.script) }
  const server = await start(scripts, port)
  process.stdout.write(`${server.url}\n`)
  process.stderr.write(
    `OpenAI: ${server.url}/v1   Anthropic: ${server.url}   Gemini: ${server.url}\nControl-C ends it.\n`,
  )
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await server.close()
  return EXIT.ok
}

async function start(scripts: Readonly<Record<string, Script>>, port: number) {
  try {
    return await startRehearsal({ scripts, port, values: { cwd: process.cwd() } })
  } catch (error) {
    throw new Complaint(
      `the server cannot start: ${error instanceof Error ? error.message : String(error)}`,
      EXIT.failure,
    )
  }
}

function scriptIn(file: string): Script {
  try {
    return readScript(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new Complaint(`${file} cannot be read as a script: ${error instanceof Error ? error.message : String(error)}`)
  }
}
