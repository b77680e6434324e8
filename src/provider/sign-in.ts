/** For commands that sign in; loaded on demand. */
export { checkKey } from './auth/check-key.ts'
export { parseOAuthClient, signInWithBrowser } from './auth/oauth-sign-in.ts'
export { onboardCodeAssist } from './auth/code-assist-onboarding.ts'
export { startRedirectServer } from './auth/redirect-server.ts'
