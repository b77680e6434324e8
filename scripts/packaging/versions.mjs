/** The tools, pinned. TypeScript is there three times, under names of our own. */
export const TOOLS = {
  '@arethetypeswrong/cli': '0.18.5',
  '@rollup/plugin-node-resolve': '16.0.3',
  '@types/node': '20.19.43',
  bun: '1.4.4',
  deno: '2.9.6',
  esbuild: '0.28.2',
  publint: '0.3.25',
  rollup: '4.68.2',
  'typescript-5.4': 'npm:typescript@5.4.5',
  'typescript-5.9': 'npm:typescript@5.9.3',
  'typescript-7': 'npm:typescript@7.0.2',
  vite: '8.3.8',
  webpack: '5.112.2',
  workerd: '1.20261104.1',
}

/** The SDKs of the vendors, as Roo Code, Cline and Kilo Code have them, and as they are today. */
export const SDKS = {
  older: { openai: '5.12.2', '@anthropic-ai/sdk': '0.37.0', '@google/genai': '1.8.0' },
  newer: { openai: '7.53.0', '@anthropic-ai/sdk': '1.8.0', '@google/genai': '2.32.0' },
}
