/** A style sheet: the bundler collects them. */
declare module '*.css'
