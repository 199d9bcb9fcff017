/// Which release this is: the first of the changelog.
enum ToolVersion {
    static let text = "0.1.0"
}
