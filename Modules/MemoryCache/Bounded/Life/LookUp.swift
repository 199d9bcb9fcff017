/// What a look-up among other readers could not do.
@usableFromInline
enum LookUp: Sendable {
    /// It is done.
    case done
    /// The entry has a deadline, and the look-up was not told the time.
    case needsTime
    /// Something must be changed that only one thread may change, such as an entry that is too old.
    case needsToWrite
}
