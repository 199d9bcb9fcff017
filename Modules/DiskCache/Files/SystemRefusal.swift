/// Why the system did not do what it was asked for. Taken from `errno` at once: what runs in between may change that.
struct SystemRefusal: Error {
    let number: Int32
}
