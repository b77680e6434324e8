import { homedir } from 'node:os'
import { findBashSyntaxError } from '../../host/process/bash-syntax.ts'
import { createDiskView } from '../../host/files/disk-view.ts'
import { type ApprovalOptions, approvalPolicies } from '../../policy/approval-policy.ts'
import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { type SandboxAccessRules, createSandboxAccessRules } from '../../policy/sandbox-access.ts'
import { RuleError } from '../../policy/rules/rule-set.ts'
import type { Settings } from '../config/read-settings.ts'
import type { PolicyConfig } from '../config/schema.ts'
import { isTrusted } from '../config/folder-trust.ts'
import { saveSandboxAccess, saveAllowRules } from '../config/update-settings.ts'
import { lazy } from '../../model/lazy.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { getConfigFolder, getDataFolder, expandHome, listPrivateFolders, realPathOrSelf } from '../paths/folders.ts'

export function createPoliciesFromSettings(
  { policies }: Pick<Settings, 'policies'>,
  options: Omit<ApprovalOptions, 'home' | 'disk' | 'rejected' | 'rules' | 'save'>,
  deny: readonly string[] = [],
): (mode: ApprovalMode) => Policy {
  const [folder = '.'] = options.folders
  const trusted = policies.project === undefined || isTrusted(folder, 'settings')
  const session: PolicyConfig = {
    deny,
    protectedWrites: listPrivateFolders().map((path) => `${path}/**`),
    secretFiles: listOwnSecretFiles(),
  }
  const createPolicies = lazy(() =>
    approvalPolicies({
      ...options,
      home: homedir(),
      disk: createDiskView(),
      rejected: findBashSyntaxError,
      rules: { ...policies, session, trusted },
      save: (rules, scope) => saveAllowRules(rules, scope === 'project' ? realPathOrSelf(folder) : undefined),
    }),
  )
  // An invalid rule is reported before anything runs. Without rules, the policy is created at the first decision.
  const hasRules = Object.values(policies).some((tier) => tier.allow ?? tier.ask ?? tier.deny)
  if (hasRules || deny.length > 0 || options.allowed?.length) withRuleErrorsReported(createPolicies)
  return (mode) => createPolicies()(mode)
}

export function createAccessRulesFromSettings(
  { config }: Pick<Settings, 'config'>,
  folders: readonly string[],
  sandbox: () => Promise<{ readonly isActive: boolean; readonly network?: boolean }>,
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
      sandbox,
      save: (access, rules, scope) =>
        saveSandboxAccess(access, rules, scope === 'project' ? realPathOrSelf(folder) : undefined),
    }),
  )
}

/** Invalid rules are errors in the settings. */
export function withRuleErrorsReported<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof RuleError) throw new UserError(error.message, EXIT_CODE.config)
    throw error
  }
}

/** Keys, tokens, settings and other sessions; not the outputs of commands, which are stored among them. */
function listOwnSecretFiles(): string[] {
  const dataPatterns = ['*', 'mcp/**', 'sessions/*/*', 'sessions/*/blobs/**']
  return [`${getConfigFolder()}/**`, ...dataPatterns.map((pattern) => `${getDataFolder()}/${pattern}`)]
}

export function listSecretFilePatterns({ policies }: Pick<Settings, 'policies'>): string[] {
  const all = [...Object.values(policies).flatMap(({ secretFiles = [] }) => secretFiles), ...listOwnSecretFiles()]
  return all.map(expandHome)
}
