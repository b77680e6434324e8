import type { Fault } from '../model/fault.ts'
import type { Usage } from '../model/usage.ts'
import type { Clock } from '../provider/clock.ts'
import { systemClock } from '../provider/clock.ts'
import type { Facts } from '../provider/row.ts'
import { startPost } from '../provider/send.ts'
import { isLoopback, shownAddress, type Target } from '../provider/target.ts'
import type { Post } from '../provider/transport.ts'
import type { Limits } from '../provider/watch.ts'
import { startLedger } from '../provider/wrap/budget.ts'
import type { Behaviour, Status } from './behaviour.ts'
import { BEHAVIOURS, FIRST } from './behaviours.ts'
import type { Exam } from './exam.ts'
import { type Finding, signsIn } from './sign.ts'
import { type Clinic, startClinic } from './ward.ts'

/** How an examination is to be held; all of it has a default but `mint`. */
export interface VisitOptions {
  /** Letters and digits that nobody has used before. */
  readonly mint: () => string
  readonly post?: Post
  readonly clock?: Clock
  /** For the waits between attempts, where it is to be another. */
  readonly waits?: Clock
  readonly limits?: Partial<Limits>
  /** Tokens that the whole examination may take. */
  readonly tokens?: number
  /** Tokens that one answer may have. */
  readonly answer?: number
  /** How many questions are asked at the same time. */
  readonly abreast?: number
  readonly attempts?: number
  /** Hears of each behaviour as soon as it is known. */
  readonly told?: (one: Examined) => void
}

/** A behaviour, and how the endpoint did. */
export interface Examined {
  readonly id: number
  readonly title: string
  readonly taught: string
  readonly how: Behaviour['how']
  readonly status: Status
  readonly said: string
  /** What a person can do, where there is something to do. */
  readonly advice?: string
  readonly seconds: number
  readonly tokens: number
}

/** What an examination found. */
export interface Report {
  readonly provider: string
  readonly model: string
  readonly wire: string
  readonly url: string
  /** Can tools be used with it at all? */
  readonly usable: boolean
  readonly behaviours: readonly Examined[]
  readonly findings: readonly Finding[]
  /** The flags of its profile that differ from what was known. */
  readonly learnt: Facts
  readonly tokens: number
  readonly seconds: number
  /** Why there was nothing to examine. */
  readonly dead?: Fault
}

/** Examines an endpoint: asks it for each behaviour, and looks at every byte of its answers. */
export async function visit(target: Target, options: VisitOptions): Promise<Report> {
  const clock = options.clock ?? systemClock
  const began = clock.now()
  const ledger = startLedger({ tokens: options.tokens ?? TOKENS }, () => undefined)
  const own = target.row.port !== undefined || isLoopback(new URL(target.baseUrl).hostname)
  const clinic = startClinic({
    target,
    post: options.post ?? startPost(process.env),
    clock,
    waits: options.waits ?? clock,
    limits: { ...LIMITS, ...options.limits },
    ledger,
    attempts: options.attempts ?? 3,
    answer: options.answer ?? ANSWER,
    mint: options.mint,
  })
  const findings = new Map<string, Finding>()
  const behaviours: Examined[] = []
  const note = (exams: readonly Exam[], more: Parameters<typeof signsIn>[2]): void => {
    for (const exam of exams)
      for (const finding of signsIn(exam, target.wire, more))
        if (!findings.has(finding.id)) findings.set(finding.id, finding)
  }

  async function hold(behaviour: Behaviour): Promise<Exam[]> {
    const { id, title, taught, how, advice, but } = behaviour
    const { ward, exams, usage } = clinic.open()
    const before = clock.now()
    const { status, said, facts } = await behaviour.probe(ward)
    if (facts) clinic.learn(facts)
    note(exams, { first: id === 1, ...(but && { but }) })
    const one: Examined = {
      id,
      title,
      taught,
      how,
      status,
      said,
      ...(status === 'fails' && { advice }),
      seconds: (clock.now() - before) / 1000,
      tokens: total(usage()),
    }
    behaviours.push(one)
    options.told?.(one)
    return [...exams]
  }

  const report = (dead?: Fault): Report => ({
    provider: target.row.id,
    model: target.model,
    wire: target.wire,
    url: shownAddress(target.baseUrl),
    usable: [3, 6].every((id) => behaviours.some((one) => one.id === id && /passes|degraded/.test(one.status))),
    behaviours: behaviours.sort((one, other) => one.id - other.id),
    findings: [...findings.values()],
    learnt: clinic.learnt,
    tokens: ledger.spent.tokens,
    seconds: (clock.now() - began) / 1000,
    ...(dead && { dead }),
  })

  // Without an answer there is nothing to examine, and the others go on from the first call.
  const [text, call] = FIRST
  const fault = (await hold(text)).at(-1)?.fault
  if (fault && !(await worksWhole(clinic, fault))) return report(fault)
  await hold(call)
  const rest = BEHAVIOURS.filter((one) => one !== text && one !== call)
  await inTurns(rest, options.abreast ?? (own ? 1 : 4), hold)
  if (findings.has('think-in-text') && target.profile.think !== true) clinic.learn({ think: true })
  return report()
}

/** Enough for all questions with room to spare; nobody should find a surprise on the bill. */
const TOKENS = 80_000

/** Enough for a short answer, also of a model that thinks first. */
const ANSWER = 2000

/** Shorter than in earnest: nobody wants to wait an hour for a diagnosis. */
const LIMITS: Limits = { firstByte: 90_000, idle: 45_000, quiet: 60_000, lifetime: 180_000 }

/** A server whose streams break may answer well in one piece; then its answers are asked for so. */
async function worksWhole(clinic: Clinic, fault: Fault): Promise<boolean> {
  const broken =
    fault.kind === 'decode' || (fault.kind === 'transport' && (fault.code ?? 'ECONNRESET') === 'ECONNRESET')
  if (!broken || fault.status !== undefined) return false
  const { ward } = clinic.open()
  const question = {
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Reply with the single word: ready.' }] } as const],
  }
  const whole = await ward.ask({ ...question, params: { stream: false } })
  if (whole.fault || whole.text === '') return false
  clinic.learn({ stream: false })
  return true
}

async function inTurns<T>(items: readonly T[], abreast: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: abreast }, worker))
}

function total({ input, cacheRead, cacheWrite, output, reasoning }: Usage): number {
  return input + cacheRead + cacheWrite + output + reasoning
}
