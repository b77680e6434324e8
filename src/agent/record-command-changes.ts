import type { Host } from '../host/host.ts'
import type { FileChange } from '../host/files/record-changes.ts'
import type { SnapshotProblem, WorkspaceSnapshots } from '../host/files/workspace-snapshot.ts'

interface RecordingOptions {
  /** Created at the first command that may change something. */
  readonly createSnapshots: () => Promise<WorkspaceSnapshots>
  readonly record: (change: FileChange, isMade: true) => Promise<void>
}

/** Records what commands change in the workspace, so that it can be undone. If it cannot be kept, the user is told once. */
export function withCommandRecording<H extends Host>(host: H, { createSnapshots, record }: RecordingOptions): H {
  let snapshots: Promise<WorkspaceSnapshots> | undefined
  let isReported = false
  const run: Host['processes']['run'] = async (request) => {
    if (request.isHarmless) return { ...(await host.processes.run(request)), changesRecorded: true }
    const { take, problem } = await (snapshots ??= createSnapshots()).then((one) => ({
      take: () => one.take(),
      problem: () => one.problem,
    }))
    const snapshot = await take()
    const end = await host.processes.run(request)
    const changes = await snapshot?.findChanges()
    for (const change of changes ?? []) await record(change, true)
    if (changes) return { ...end, changesRecorded: true }
    if (isReported) return end
    isReported = true
    return { ...end, notices: [NOT_RECORDED_NOTICES[problem() ?? 'too-large']] }
  }
  return { ...host, processes: { ...host.processes, run } }
}

const NOT_RECORDED_NOTICES: Readonly<Record<SnapshotProblem, string>> = {
  'too-large':
    'What commands change here cannot be undone: the folder is too large to be kept. Changes by file tools can.',
  unreadable: 'What commands change here cannot be undone: the folder cannot be read. Changes by file tools can.',
}
