/// The version of this package, equal to the latest version in the changelog.
package enum AlcedoVersion {
    /// The version as text, such as `0.1.0`. Programs print it, and the default `User-Agent` field contains it.
    package static let text = "0.1.0"
}
