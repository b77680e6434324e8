import { assertEqual } from '../../session/store/conformance/assertions.ts'
import type { Job, JobOutcome } from '../backend.ts'
import {
  assertTrue,
  type BackendCase,
  createGate,
  createJob,
  QUIET_MS,
  sleep,
  startWorker,
  waitFor,
  withBackend,
} from './backend-case.ts'

const DONE: JobOutcome = { kind: 'done' }

/** Who works, and when. */
export const queueCases: readonly BackendCase[] = [
  {
    name: 'a job that is submitted twice runs once, also after it has ended',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const ran: string[] = []
        const job = createJob()
        await Promise.all([backend.queue.submit(job), backend.queue.submit(job)])
        await startWorker(backend, async ({ id }) => Promise.resolve(ran.push(id)).then(() => DONE))
        await waitFor('the job ends', async () => (await backend.queue.getStatus(job.id)) === 'done')
        await backend.queue.submit(job)
        const next = createJob({ session: job.session })
        await backend.queue.submit(next)
        await waitFor('the next job ends', async () => (await backend.queue.getStatus(next.id)) === 'done')
        assertEqual(ran, [job.id, next.id])
      }),
  },
  {
    name: 'the jobs of a session run one at a time and in order, those of others beside them',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const [running, order] = [new Set<string>(), [] as string[]]
        let [conflicts, most] = [0, 0]
        const jobs = Array.from({ length: 12 }, (_, at) => createJob({ session: `turn-${at % 3}` }))
        for (const job of jobs) await backend.queue.submit(job)
        await startWorker(backend, async ({ id, session }) => {
          if (running.has(session)) conflicts++
          running.add(session)
          most = Math.max(most, running.size)
          order.push(id)
          await sleep(30)
          running.delete(session)
          return DONE
        })
        await waitFor('all jobs end', () => order.length === jobs.length && running.size === 0)
        assertEqual(conflicts, 0)
        assertTrue(most > 1, 'sessions wait for each other')
        for (const session of ['turn-0', 'turn-1', 'turn-2']) {
          const ids = jobs.filter((job) => job.session === session).map(({ id }) => id)
          assertEqual(
            order.filter((id) => ids.includes(id)),
            ids,
          )
        }
      }),
  },
  {
    name: 'sessions of the same name of two tenants do not wait for each other',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const gate = createGate()
        const started: string[] = []
        for (const tenant of ['acme', 'other']) await backend.queue.submit(createJob({ tenant, session: 'same' }))
        await startWorker(backend, async ({ tenant }) => {
          started.push(tenant)
          await gate.opened
          return DONE
        })
        await waitFor('both start', () => started.length === 2)
        gate.open()
      }),
  },
  {
    name: 'a cancelled job never starts',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const [job, next] = [createJob({ session: 'same' }), createJob({ session: 'same' })]
        await backend.queue.submit(job)
        await backend.queue.submit(next)
        await backend.queue.cancel(job.id)
        const ran: string[] = []
        await startWorker(backend, async ({ id }) => Promise.resolve(ran.push(id)).then(() => DONE))
        await waitFor('the next job ends', async () => (await backend.queue.getStatus(next.id)) === 'done')
        assertEqual(ran, [next.id])
        assertEqual(await backend.queue.getStatus(job.id), 'cancelled')
        assertEqual(await backend.queue.getStatus('unknown'), undefined)
      }),
  },
  {
    name: 'a job that asks for it runs again, but not before its time',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const times: number[] = []
        const job = createJob()
        await backend.queue.submit(job)
        await startWorker(backend, () => {
          times.push(Date.now())
          return Promise.resolve(times.length > 1 ? DONE : { kind: 'retry', afterMs: 400, reason: 'rate' })
        })
        await waitFor('it runs again', async () => (await backend.queue.getStatus(job.id)) === 'done')
        assertEqual(times.length, 2)
        assertTrue((times[1] ?? 0) - (times[0] ?? 0) >= 390, 'it ran too early')
      }),
  },
  {
    name: 'a job does not start before its time',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const notBefore = Date.now() + 500
        let started = 0
        await startWorker(backend, () => {
          started = Date.now()
          return Promise.resolve(DONE)
        })
        await backend.queue.submit(createJob({ notBefore }))
        await waitFor('it starts', () => started > 0)
        assertTrue(started >= notBefore - 10, 'it started too early')
      }),
  },
  {
    name: 'only a worker with the label runs a job that needs it',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const ran: string[] = []
        const job = createJob({ label: 'gpu' })
        await startWorker(backend, async () => Promise.resolve(ran.push('without')).then(() => DONE))
        await backend.queue.submit(job)
        await sleep(QUIET_MS)
        assertEqual(ran, [])
        await startWorker(backend, async () => Promise.resolve(ran.push('with')).then(() => DONE), ['gpu'])
        await waitFor('it runs', async () => (await backend.queue.getStatus(job.id)) === 'done')
        assertEqual(ran, ['with'])
      }),
  },
  {
    name: 'limits count jobs at the same time for each tenant and provider',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        await backend.queue.setLimits({ tenant: 'acme', provider: 'p', concurrency: 2 })
        const running: Job[] = []
        let [most, ended] = [0, 0]
        await startWorker(backend, async (job) => {
          running.push(job)
          const count = running.filter(({ tenant, provider }) => tenant === 'acme' && provider === 'p').length
          most = Math.max(most, count)
          await sleep(40)
          running.splice(running.indexOf(job), 1)
          ended++
          return DONE
        })
        const jobs = Array.from({ length: 8 }, () => createJob())
        const others = [createJob({ tenant: 'other' }), createJob({ provider: 'q' })]
        for (const job of [...jobs, ...others]) await backend.queue.submit(job)
        await waitFor('all jobs end', () => ended === jobs.length + others.length)
        assertEqual(most, 2)
      }),
  },
  {
    name: 'limits count the jobs of a minute for each tenant and provider',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        await backend.queue.setLimits({ tenant: 'acme', provider: 'p', perMinute: 2 })
        const ran: string[] = []
        await startWorker(backend, async ({ id }) => Promise.resolve(ran.push(id)).then(() => DONE))
        const jobs = Array.from({ length: 4 }, () => createJob())
        const other = createJob({ tenant: 'other' })
        for (const job of [...jobs, other]) await backend.queue.submit(job)
        await waitFor('those within the limit run', () => ran.length >= 3)
        await sleep(QUIET_MS)
        assertEqual(ran.filter((id) => id !== other.id).length, 2)
        assertTrue(ran.includes(other.id), 'the other tenant waits')
      }),
  },
  {
    name: 'a job whose process was killed runs again, and what had ended does not',
    async run(setup) {
      const backend = await setup.createBackend()
      const [ended, open, waiting] = [createJob(), createJob(), createJob({ label: 'later' })]
      let hasStarted = false
      await startWorker(backend, (job) => {
        if (job.id === ended.id) return Promise.resolve(DONE)
        hasStarted = true
        return new Promise(() => {})
      })
      for (const job of [ended, open, waiting]) await backend.queue.submit(job)
      await waitFor(
        'one ends, one starts',
        async () => hasStarted && (await backend.queue.getStatus(ended.id)) === 'done',
      )
      const next = await setup.reopenAfterKill(backend)
      const ran = new Set<string>()
      await startWorker(next, async ({ id }) => Promise.resolve(ran.add(id)).then(() => DONE), ['later'])
      await waitFor('both run', () => ran.size === 2)
      await sleep(QUIET_MS)
      assertEqual([...ran].sort(), [open.id, waiting.id].sort())
      await next.close()
    },
  },
  {
    name: 'a worker that stops aborts its jobs, and another one runs them',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const job = createJob()
        let runs = 0
        const worker = await startWorker(backend, (_job, signal) => {
          runs++
          return new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ kind: 'retry', afterMs: 0, reason: 'stopped' }))
          })
        })
        await backend.queue.submit(job)
        await waitFor('it starts', () => runs === 1)
        await worker.stop()
        await startWorker(backend, () => {
          runs++
          return Promise.resolve(DONE)
        })
        await waitFor('it ends', async () => (await backend.queue.getStatus(job.id)) === 'done')
        assertEqual(runs, 2)
      }),
  },
  {
    name: 'two processes never run two jobs of a session at the same time',
    needs: 'connect',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const second = await setup.connect?.(backend)
        if (!second) return
        const running = new Set<string>()
        let [conflicts, ended] = [0, 0]
        for (const one of [backend, second])
          await startWorker(one, async ({ session }) => {
            if (running.has(session)) conflicts++
            running.add(session)
            await sleep(20)
            running.delete(session)
            ended++
            return DONE
          })
        const jobs = Array.from({ length: 20 }, (_, at) => createJob({ session: `both-${at % 4}` }))
        for (const [at, job] of jobs.entries()) await (at % 2 === 0 ? backend : second).queue.submit(job)
        await waitFor('all jobs end', () => ended === jobs.length)
        assertEqual(conflicts, 0)
        await second.close()
      }),
  },
]
