/// Which release this is: the first of the changelog.
public enum ProjectVersion {
    public static let text = "0.1.0"
}
