import AlcedoCore

/// A part of a trim.
struct TrimSlice: Sendable {
    var removals: [DataCacheTrimReport.Removal] = []
    /// Whether there is nothing more to do.
    var isDone = true
}
