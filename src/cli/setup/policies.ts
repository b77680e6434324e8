import { homedir } from 'node:os'
import { bashRejects } from '../../host/bash-syntax.ts'
import { lookAtDisk } from '../../host/look.ts'
import { type ApprovalOptions, approvalPolicies } from '../../policy/approval.ts'
import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { type SandboxAccessRules, sandboxAccessRules } from '../../policy/sandbox-access.ts'
import { RuleProblem } from '../../policy/rule/book.ts'
import { projectKey, type Settings } from '../config/read.ts'
import type { PolicyConfig } from '../config/schema.ts'
import { isTrusted } from '../config/trust.ts'
import { allowAccess, allowForGood } from '../config/write.ts'
import { Complaint, EXIT } from '../exit.ts'
import { configFolder, dataFolder, ownFolders } from '../own/places.ts'

/** The policies of a run, by mode, from what a person has settled. */
export function policiesFor(
  { policies }: Pick<Settings, 'policies'>,
  options: Omit<ApprovalOptions, 'home' | 'disk' | 'rejected' | 'rules' | 'save'>,
): (mode: ApprovalMode) => Policy {
  const [folder = '.'] = options.folders
  const trusted = policies.project === undefined || isTrusted(folder)
  return withoutRuleProblem(() =>
    approvalPolicies({
      ...options,
      home: homedir(),
      disk: lookAtDisk(),
      rejected: bashRejects,
      rules: { ...policies, session: oursGuarded(), trusted },
      save: (rules, scope) => allowForGood(rules, scope === 'project' ? projectKey(folder) : undefined),
    }),
  )
}

/** Which commands may do more than the sandbox lets them, by the person's settings. */
export function accessRulesFor(
  { config }: Pick<Settings, 'config'>,
  folders: readonly string[],
  isNetworkClosed: () => Promise<boolean>,
): SandboxAccessRules {
  const [folder = '.'] = folders
  const { allowNetwork = [], allowOutside = [] } = config.sandboxOptions ?? {}
  return withoutRuleProblem(() =>
    sandboxAccessRules({
      folders,
      home: homedir(),
      disk: lookAtDisk(),
      rejected: bashRejects,
      rules: { network: allowNetwork, outside: allowOutside },
      isNetworkClosed,
      save: (access, rules, scope) => allowAccess(access, rules, scope === 'project' ? projectKey(folder) : undefined),
    }),
  )
}

function withoutRuleProblem<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof RuleProblem) throw new Complaint(error.message, EXIT.config)
    throw error
  }
}

/** What is ours is protected wherever it lies, and what we know of the person is theirs. */
function oursGuarded(): PolicyConfig {
  return { protectedWrites: ownFolders().map((folder) => `${folder}/**`), secretFiles: ownSecrets() }
}

/** Keys, tokens, settings, and what was said in other sessions. What commands print lies among them and is no secret. */
function ownSecrets(): string[] {
  const data = dataFolder()
  return [`${configFolder()}/**`, `${data}/*`, `${data}/mcp/**`, `${data}/sessions/*/*`, `${data}/sessions/*/blobs/**`]
}

/** The patterns of files that hold secrets, of everybody who settles something. */
export function secretFilesOf({ policies }: Pick<Settings, 'policies'>): string[] {
  const all = [...Object.values(policies).flatMap(({ secretFiles = [] }) => secretFiles), ...ownSecrets()]
  return all.map((pattern) => (pattern.startsWith('~/') ? `${homedir()}${pattern.slice(1)}` : pattern))
}
