import { defined } from '../../model/defined.ts'
import { abbreviateHome } from '../paths/folders.ts'
import type { ActiveSession } from './active-session.ts'
import { readGitBranch } from './git-branch.ts'
import type { Ui } from './ui.ts'
import type { StatusInfo } from './ui-state.ts'

export type StatusUpdates = ReturnType<typeof createStatusUpdates>

/** Keeps the status line up to date. */
export function createStatusUpdates(ui: Ui, session: ActiveSession, folder: string) {
  function update(change: (status: StatusInfo) => StatusInfo): void {
    ui.update((state) => ({ ...state, status: change(state.status) }))
  }
  return {
    /** Shows the current model and mode. */
    refresh: () => update((status) => ({ ...status, ...createStatus(session, folder) })),
    /** Shows the current session, without the figures of the previous one. */
    reset: () =>
      update(({ branch, sandbox }) => ({ ...createStatus(session, folder), ...defined({ branch, sandbox }) })),
    refreshBranch(): void {
      const branch = readGitBranch(folder)
      update(({ branch: _previous, ...status }) => ({ ...status, ...defined({ branch }) }))
    },
    async refreshSandbox(): Promise<void> {
      const state = await session.sandbox.state()
      const sandbox = !state.isActive ? 'no sandbox' : state.network ? 'sandbox, network' : 'sandbox'
      update((status) => ({ ...status, sandbox }))
    },
  }
}

/** The part of the status line that is known at once. */
export function createStatus({ agent, mode }: ActiveSession, folder: string): StatusInfo {
  const { origin, window } = agent.model
  return { model: `${origin.provider}/${origin.model}`, mode, folder: abbreviateHome(folder), ...defined({ window }) }
}
