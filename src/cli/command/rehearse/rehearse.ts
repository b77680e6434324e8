import { readFileSync } from 'node:fs'
import { BUILTIN_SCRIPTS } from '../../../rehearsal/builtin-scripts/all-scripts.ts'
import { startRehearsalServer } from '../../../rehearsal/server.ts'
import type { RehearsalScript } from '../../../rehearsal/script/script.ts'
import { parseRehearsalScript } from '../../../rehearsal/script/script-schema.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { REHEARSE_COMMAND } from './spec.ts'
import { findSubcommand, parseCommandLine } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

export async function runRehearseCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman rehearse', REHEARSE_COMMAND.options, args)
  if (positionals.length === 0) return printHelp('rehearse')
  findSubcommand('dragoman rehearse', REHEARSE_COMMAND.subcommands, positionals[0] ?? '')
  const port = values.port === undefined ? 0 : Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UserError(`--port must be a number from 0 to 65535, not “${values.port}”`)
  const scripts =
    values.script === undefined ? BUILTIN_SCRIPTS : { ...BUILTIN_SCRIPTS, script: readScriptFile(values.script) }
  const server = await startServer(scripts, port)
  process.stdout.write(`${server.url}\n`)
  process.stderr.write(
    `OpenAI: ${server.url}/v1   Anthropic: ${server.url}   Gemini: ${server.url}\nPress Ctrl-C to stop.\n`,
  )
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await server.close()
  return EXIT_CODE.ok
}

async function startServer(scripts: Readonly<Record<string, RehearsalScript>>, port: number) {
  try {
    return await startRehearsalServer({ scripts, port, templateValues: { cwd: process.cwd() } })
  } catch (error) {
    throw new UserError(`the server cannot start: ${getErrorMessage(error)}`, EXIT_CODE.failure)
  }
}

function readScriptFile(file: string): RehearsalScript {
  try {
    return parseRehearsalScript(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new UserError(`${file} is not a valid script: ${getErrorMessage(error)}`)
  }
}
