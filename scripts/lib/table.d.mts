export function table(head: readonly string[], rows: readonly (readonly string[])[]): string
export function code(text: string): string
