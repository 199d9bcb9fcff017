/// The version of this package: the first one of the changelog.
public enum AlcedoVersion {
    /// The version as text, such as `0.1.0`. Programs print it, and the default `User-Agent` field names it.
    public static let text = "0.1.0"
}
