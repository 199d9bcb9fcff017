/// Why the system did not do what it was asked for. Taken from `errno` at once: what runs in between may change that.
package struct SystemError: Error {
    package let number: Int32

    package init(number: Int32) { self.number = number }
}
