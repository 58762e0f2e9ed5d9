/** The version of this package; a test holds it against both package.json. */
export const version = '0.1.0'
