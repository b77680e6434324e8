import type { Host } from '../../host/host.ts'
import { defined } from '../../model/defined.ts'
import type { ApprovedFile } from '../../model/security/approved-file.ts'

import type { ToolContext } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'
import type { ExecutingCall } from './call-state.ts'

/** What a tool may use. If the user changed the call, the tool gets both versions of the arguments. */
export function createToolContext(
  agent: AgentContext,
  signal: AbortSignal,
  progress: (text: string) => void,
  call: Partial<
    Pick<ExecutingCall, 'modified' | 'proposed' | 'access' | 'gitHelpers' | 'isHarmless' | 'sandboxAccess'>
  > = {},
): ToolContext {
  const { modified, proposed, access = [], gitHelpers, isHarmless, sandboxAccess } = call
  return {
    host: grantHostAccess(agent.host, access),
    folders: agent.folders,
    seenFiles: agent.seenFiles,
    signal,
    progress,
    ...(modified && defined({ modified, proposed })),
    ...defined({ gitHelpers, isHarmless, sandboxAccess }),
  }
}

/** A host that also opens the files that were approved for this call, even outside the workspace. */
function grantHostAccess(host: Host, access: readonly ApprovedFile[]): Host {
  if (access.length === 0 || !('withAccess' in host)) return host
  return { ...host, ...host.withAccess?.(access) }
}
