import { randomBytes } from 'node:crypto'
import { BEHAVIOURS } from '../../doctor/behaviours.ts'
import { type Report, visit } from '../../doctor/visit.ts'
import { turnKey } from '../../model/ids.ts'
import { resolveModel } from '../../provider/resolve.ts'
import { shownAddress } from '../../provider/target.ts'
import { readSettings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { DOCTOR } from '../manual/doctor.ts'
import { configuredModel, rowsWith } from '../setup/model.ts'
import { visible } from '../output/visible.ts'
import { parseLine } from '../line/parse.ts'
import { keepFacts } from '../own/profiles.ts'
import { isRehearsal, type Rehearsed, startRehearsed } from '../setup/rehearsed.ts'
import { signIns } from '../sign-in/sign-ins.ts'
import { examinedLine, findingsText, reportText } from './doctor-text.ts'

/** `dragoman doctor <provider/model>`: examines an endpoint live, and gives 0 only if tools can be used with it. */
export async function doctorModel(args: string[]): Promise<number> {
  const { name, options } = parse(args)
  if (options.list) return listBehaviours(options.json ?? false)
  const { target, close } = await patientNamed(name)
  try {
    const tokens = numberOf('--max-tokens', options['max-tokens'])
    const seconds = numberOf('--timeout', options.timeout)
    const answer = numberOf('--answer', options.answer)
    const limit = seconds === undefined ? undefined : seconds * 1000
    const loud = options.json !== true
    if (loud)
      process.stdout.write(
        `${target.row.id}/${target.model}, on the ${target.wire} wire at ${shownAddress(target.baseUrl)}\n\n`,
      )
    const report = await visit(target, {
      mint: () => turnKey(randomBytes(20)),
      ...(tokens !== undefined && { tokens }),
      ...(answer !== undefined && { answer }),
      ...(limit !== undefined && { limits: { firstByte: limit, idle: limit, quiet: limit, lifetime: 2 * limit } }),
      ...(loud && { told: (one) => process.stdout.write(visible(examinedLine(one))) }),
    })
    if (!loud) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    else process.stdout.write(visible(report.dead ? findingsText(report) : reportText(report)))
    if (report.dead) throw new Complaint(report.dead.message, codeOf(report))
    if (options['write-profile']) {
      const file = keepFacts(target, report.learnt)
      const none = Object.keys(report.learnt).length === 0
      if (loud)
        process.stdout.write(
          none ? 'There is nothing to keep for the next time.\n' : `Kept for the next time in ${file}.\n`,
        )
    }
    return codeOf(report)
  } finally {
    await close()
  }
}

function codeOf({ dead, usable }: Report): number {
  if (dead) return dead.kind === 'auth' ? EXIT.signIn : EXIT.failure
  return usable ? EXIT.ok : EXIT.failure
}

/** Who is to be examined. What earlier examinations found is left aside, so that this one finds all of it again. */
async function patientNamed(given: string | undefined): Promise<Rehearsed> {
  const { config } = readSettings(process.cwd())
  const name = given ?? (await configuredModel(config))
  if (name === undefined)
    throw new Complaint('which model? name it as provider/model, for example ollama/qwen3', EXIT.input)
  if (isRehearsal(name)) return startRehearsed(name, 'patient', 0)
  const target = resolveModel(name, process.env, rowsWith(config), signIns())
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  return { target, close: () => Promise.resolve() }
}

function listBehaviours(json: boolean): number {
  const list = BEHAVIOURS.map(({ id, title, taught, how, advice }) => ({ id, title, taught, how, advice }))
  const lines = list.map(({ id, title, taught, how }) => `${String(id).padStart(3)}  ${title} (${how}; ${taught})\n`)
  process.stdout.write(json ? `${JSON.stringify(list, null, 2)}\n` : lines.join(''))
  return EXIT.ok
}

function numberOf(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!(number > 0 && number < 1e9)) throw new Complaint(`${flag} takes a number above 0, not “${value}”`)
  return number
}

function parse(args: readonly string[]) {
  const { values, positionals } = parseLine('dragoman doctor', DOCTOR.options, args)
  if (positionals.length > 1) throw new Complaint(`one model at a time; “${positionals[1]}” is too much`)
  return { name: positionals[0], options: values }
}
