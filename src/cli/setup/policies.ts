import { homedir } from 'node:os'
import { findBashSyntaxError } from '../../host/process/bash-syntax.ts'
import { createDiskView } from '../../host/files/disk-view.ts'
import { type ApprovalOptions, approvalPolicies } from '../../policy/approval-policy.ts'
import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { type SandboxAccessRules, createSandboxAccessRules } from '../../policy/sandbox-access.ts'
import { RuleError } from '../../policy/rules/rule-set.ts'
import { resolveProjectKey, type Settings } from '../config/read-settings.ts'
import type { PolicyConfig } from '../config/schema.ts'
import { isTrusted } from '../config/trust.ts'
import { saveSandboxAccess, saveAllowRules } from '../config/update-settings.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { configFolderPath, dataFolderPath, listPrivateFolders } from '../paths/folders.ts'

/** The policies of a run, by mode, from what a person has settled. */
export function createPoliciesFromSettings(
  { policies }: Pick<Settings, 'policies'>,
  options: Omit<ApprovalOptions, 'home' | 'disk' | 'rejected' | 'rules' | 'save'>,
): (mode: ApprovalMode) => Policy {
  const [folder = '.'] = options.folders
  const trusted = policies.project === undefined || isTrusted(folder)
  return withRuleErrorsReported(() =>
    approvalPolicies({
      ...options,
      home: homedir(),
      disk: createDiskView(),
      rejected: findBashSyntaxError,
      rules: { ...policies, session: protectOwnFiles(), trusted },
      save: (rules, scope) => saveAllowRules(rules, scope === 'project' ? resolveProjectKey(folder) : undefined),
    }),
  )
}

/** Which commands may do more than the sandbox lets them, by the person's settings. */
export function createAccessRulesFromSettings(
  { config }: Pick<Settings, 'config'>,
  folders: readonly string[],
  isNetworkClosed: () => Promise<boolean>,
): SandboxAccessRules {
  const [folder = '.'] = folders
  const { allowNetwork = [], allowOutside = [] } = config.sandboxOptions ?? {}
  return withRuleErrorsReported(() =>
    createSandboxAccessRules({
      folders,
      home: homedir(),
      disk: createDiskView(),
      rejected: findBashSyntaxError,
      rules: { network: allowNetwork, outside: allowOutside },
      isNetworkClosed,
      save: (access, rules, scope) =>
        saveSandboxAccess(access, rules, scope === 'project' ? resolveProjectKey(folder) : undefined),
    }),
  )
}

function withRuleErrorsReported<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof RuleError) throw new UserError(error.message, EXIT_CODE.config)
    throw error
  }
}

/** What is ours is protected wherever it lies, and what we know of the person is theirs. */
function protectOwnFiles(): PolicyConfig {
  return { protectedWrites: listPrivateFolders().map((folder) => `${folder}/**`), secretFiles: listOwnSecretFiles() }
}

/** Keys, tokens, settings, and what was said in other sessions. What commands print lies among them and is no secret. */
function listOwnSecretFiles(): string[] {
  const data = dataFolderPath()
  return [
    `${configFolderPath()}/**`,
    `${data}/*`,
    `${data}/mcp/**`,
    `${data}/sessions/*/*`,
    `${data}/sessions/*/blobs/**`,
  ]
}

/** The patterns of files that hold secrets, of everybody who settles something. */
export function listSecretFilePatterns({ policies }: Pick<Settings, 'policies'>): string[] {
  const all = [...Object.values(policies).flatMap(({ secretFiles = [] }) => secretFiles), ...listOwnSecretFiles()]
  return all.map((pattern) => (pattern.startsWith('~/') ? `${homedir()}${pattern.slice(1)}` : pattern))
}
