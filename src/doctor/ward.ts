import type { TurnEvent } from '../model/event.ts'
import type { Request } from '../model/request.ts'
import type { Turn, WireId } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { Clock } from '../provider/clock.ts'
import { merged } from '../provider/profile.ts'
import type { Facts } from '../provider/row.ts'
import { port } from '../provider/send.ts'
import type { Target } from '../provider/target.ts'
import type { Post } from '../provider/transport.ts'
import type { Limits } from '../provider/watch.ts'
import { budget, type Ledger } from '../provider/wrap/budget.ts'
import { remember } from '../provider/wrap/remember.ts'
import { retry } from '../provider/wrap/retry.ts'
import { type Exam, takeExam } from './exam.ts'
import { canned, tapped, type Trace } from './tap.ts'

/** What a question is made of; the rest is the same for all. */
export interface Question extends Partial<Request> {
  readonly turns: readonly Turn[]
  /** Sees each event as it comes, and may stop the answer. */
  readonly watch?: (event: TurnEvent, stop: () => void) => void
}

/** An answer that is played here instead of asked for. */
export type Canned = Parameters<typeof canned>[0]

/** Where probes ask their questions. */
export interface Ward {
  readonly wire: WireId
  readonly facts: Facts
  ask(question: Question): Promise<Exam>
  /** An exam that several probes look at; it is taken once. */
  shared(name: string, question: () => Question): Promise<Exam>
  /** The same question with other flags; if `better` says so, the flags are learnt and the exam takes the place of the shared one. */
  retake(
    name: string,
    question: () => Question,
    facts: Facts,
    better: (exam: Exam) => boolean,
  ): Promise<Exam | undefined>
  /** Reads an answer that does not come over the network, as if it answered this exam's request. */
  replay(exam: Exam, answer: Canned): Promise<Exam>
}

/** What a clinic is made of. */
export interface Means {
  readonly target: Target
  readonly post: Post
  readonly clock: Clock
  /** For the waits between attempts. */
  readonly waits: Clock
  readonly limits: Partial<Limits>
  readonly ledger: Ledger
  /** How often a question is asked, the first time included. */
  readonly attempts: number
  /** The most tokens that an answer may have. */
  readonly answer: number
  readonly mint: () => string
}

/** The whole of an examination: one endpoint, what was learnt of it, and a ward for each behaviour. */
export interface Clinic {
  readonly learnt: Facts
  learn(facts: Facts): void
  /** A ward of its own, and what happened in it. */
  open(): { readonly ward: Ward; readonly exams: readonly Exam[]; readonly usage: () => Usage }
}

/** Sets up an examination. */
export function startClinic(means: Means): Clinic {
  let learnt: Facts = {}
  const shelf = new Map<string, Promise<Exam>>()
  const now = (): Target => ({
    ...means.target,
    profile: { ...merged(means.target.profile, learnt), signer: means.target.profile.signer },
  })

  function sent(question: Question, post: Post, patient: boolean, facts: Facts = {}): Promise<Exam> {
    const { watch, ...rest } = question
    const known = now()
    const target = { ...known, profile: { ...known.profile, ...facts } }
    const whole = target.profile.stream === false || rest.params?.stream === false
    const request: Request = {
      model: target.model,
      system: SYSTEM,
      tools: [],
      ...rest,
      params: {
        ...rest.params,
        maxTokens: Math.min(rest.params?.maxTokens ?? means.answer, means.answer),
        ...(whole && { stream: false }),
      },
    }
    const traces: (() => Trace)[] = []
    const tap = tapped(post, (trace) => traces.push(trace))
    const open = (to: Target) => port(to, { post: tap, clock: means.clock, limits: means.limits })
    const learning = patient ? remember(target, (to) => budget(open(to), means.ledger), learn) : open(target)
    const model = patient
      ? retry(learning, { clock: means.waits, attempts: means.attempts, total: PATIENCE })
      : learning
    const seen = () => traces.map((trace) => trace())
    return takeExam(model, request, { key: means.mint(), traces: seen, ...(watch && { watch }) })
  }

  function learn(facts: Facts): void {
    learnt = merged(learnt, facts)
  }

  return {
    get learnt() {
      return learnt
    },
    learn,
    open() {
      const exams: Exam[] = []
      const kept = async (exam: Promise<Exam>): Promise<Exam> => {
        const done = await exam
        exams.push(done)
        return done
      }
      const ward: Ward = {
        wire: means.target.wire,
        get facts() {
          return now().profile
        },
        ask: (question) => kept(sent(question, means.post, true)),
        shared(name, question) {
          const known = shelf.get(name)
          if (known) return known
          const exam = kept(sent(question(), means.post, true))
          shelf.set(name, exam)
          return exam
        },
        async retake(name, question, facts, better) {
          const exam = await kept(sent(question(), means.post, true, facts))
          if (!better(exam)) return undefined
          learn(facts)
          shelf.set(name, Promise.resolve(exam))
          return exam
        },
        // Nothing is sent and nothing is spent, so it leaves no trace in the books.
        replay: (exam, answer) => sent(exam.request, canned(answer), false),
      }
      return { ward, exams, usage: () => exams.map(({ usage }) => usage).reduce(addUsage, NO_USAGE) }
    },
  }
}

const SYSTEM = 'You are being tested. Do exactly what you are asked, in as few words as possible.'

/** Milliseconds of waiting for a server that asks for it, in all. */
const PATIENCE = 20_000
