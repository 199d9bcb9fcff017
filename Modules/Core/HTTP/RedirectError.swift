/// Why a redirect could not be followed.
package struct RedirectError: Error, Sendable, CustomStringConvertible {
    /// One sentence.
    package let message: String

    package var description: String { message }
}
