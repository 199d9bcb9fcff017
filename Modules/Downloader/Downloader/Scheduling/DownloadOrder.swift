/// Which of equally urgent downloads begins first.
public enum DownloadOrder: Sendable, Hashable {
    /// In the order they were asked for.
    case firstInFirstOut
    /// The one that was asked for last: for a list that is scrolled, in which the old is out of sight.
    case lastInFirstOut
}
