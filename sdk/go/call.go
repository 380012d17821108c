// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"time"
)

// Host is what a backend is given for as long as it lives. Log is for any goroutine, CheckAddress for the one that runs the backend.
type Host struct {
	connection *connection

	// Path is where the resolver stands in the config, for people: "cluster.merge[0]".
	Path string
}

// Log writes to the launcher's log; never a secret (MP-17).
func (h *Host) Log(level Level, text string) { h.connection.log(level, text) }

// CheckAddress is nil where AddTask would take this address and port (MP-7), else an Error whose message says why not: put the
// place before it.
func (h *Host) CheckAddress(address string, port int64) error {
	answer, err := h.connection.request(kindCheckAddress, new(writer).text(1, address).integer(2, port), nil)
	if err != nil {
		return err
	}
	return answer.err()
}

// The deadline is counted from when the Run was read, so the core's Cancel comes a little before it.
const onTheWay = 100 * time.Millisecond

// Call is one running call: it takes what is found, and asks the world. It is for one goroutine at a time, until the call ends.
//
// A push (Add..., Set...) returns nothing, for it is not answered. Once the call was cancelled, its deadline has come, or the core has
// refused what was pushed, pushes are ignored and whatever else is called returns Err(); the call then ends with it, whatever the
// backend returns. So a backend need not look at each push, only at ctx or Err in long loops.
type Call struct {
	connection *connection
	context    context.Context
	deadline   time.Time
	interval   time.Duration
	live       bool
	state      *state
	wrong      error // of a push that could not be written
	ended      bool
	handlers   map[uint64]func([]byte) error
	failed     map[uint64]error // what they returned
}

// Err says why the call is over: cancelled, beyond its deadline, or refused. Nil while it is not.
func (c *Call) Err() error {
	switch code := c.state.refused.Load(); {
	case code != 0:
		return &Error{Code: Code(code), Message: "refused"} // the core has kept the words
	case c.wrong != nil:
		return c.wrong
	case c.ended:
		return Errorf(Internal, "a call was used after its end (MP-15)")
	case c.context.Err() == nil:
		return nil
	case time.Until(c.deadline) < onTheWay:
		return Errorf(DeadlineExceeded, wordsDeadline)
	}
	return Errorf(Cancelled, wordsCancelled)
}

// Interval is, in a watch, how long its user lets pass between two questions to a source that has to be asked again and again.
func (c *Call) Interval() time.Duration { return c.interval }

// Live says that the call is neither recorded nor replayed: what it learns (a token) may serve other calls too.
func (c *Call) Live() bool { return c.live }

// Log writes to the launcher's log; never a secret (MP-17).
func (c *Call) Log(level Level, text string) { c.connection.log(level, text) }

// Progress says what the call is waiting for now, in a few words: the launcher may show it.
func (c *Call) Progress(text string) {
	if c.Err() == nil {
		c.wrong = c.connection.write(0, kindSetProgress, new(writer).text(1, text))
	}
}

// AddJob declares a job, which may then have no task. Jobs keep the order in which they are first named.
func (c *Call) AddJob(job string) { c.push(kindAddJob, new(writer).text(1, job)) }

// AddTask adds a member.
func (c *Call) AddTask(task Task) {
	c.push(kindAddTask, new(writer).text(1, task.Job).signed(2, task.Index).text(3, task.Name).text(4, task.Address).integer(5, task.Port))
}

// SetAttribute says something about the task added last or, before any task, about the whole cluster. plugin.h has the keys with a meaning.
func (c *Call) SetAttribute(key, value string) {
	c.push(kindSetAttribute, new(writer).text(1, key).text(2, value))
}

// AddMissing names a member that should be there and is not.
func (c *Call) AddMissing(missing Missing) {
	c.push(kindAddMissing, new(writer).text(1, missing.Job).signed(2, missing.Index).text(3, missing.Name).text(4, missing.Reason))
}

// SetExpected says how many tasks the job has when it is whole.
func (c *Call) SetExpected(job string, count int64) {
	c.push(kindSetExpected, new(writer).text(1, job).integer(2, count))
}

// SetIdentity says which task this process is. Several may be given; they must agree.
func (c *Call) SetIdentity(identity Identity) {
	c.push(kindSetIdentity, new(writer).text(1, identity.Job).signed(2, identity.Index).text(3, identity.Name).text(4, identity.Evidence))
}

// AddWarning says something the user should know although the answer is right.
func (c *Call) AddWarning(text string) { c.push(kindAddWarning, new(writer).text(1, text)) }

// MarkSecret says that from here on this text is shown nowhere. Options with "writeOnly" are known already.
func (c *Call) MarkSecret(text []byte) { c.push(kindMarkSecret, new(writer).data(1, text)) }

// Commit says, in Watch, that what was pushed since the last Commit is one whole snapshot; the next begins with nothing.
func (c *Call) Commit() error {
	_, err := c.ask(kindCommit, new(writer))
	return err
}

// AddPermission adds, in Permissions, one more that is needed.
func (c *Call) AddPermission(permission Permission) {
	c.push(kindAddPermission, new(writer).text(1, permission.PrincipalKind).text(2, permission.Principal).text(3, permission.Scope).text(4, permission.Rule))
}

// SetGrant sets, in Permissions, the text that allows all of them when it is given to the command on its standard input.
func (c *Call) SetGrant(command, text string) {
	c.push(kindSetGrant, new(writer).text(1, command).text(2, text))
}

// AddPlanned adds, in Plan, one more kind of requests.
func (c *Call) AddPlanned(planned Planned) {
	c.push(kindAddPlanned, new(writer).text(1, planned.API).text(2, planned.Request).text(3, planned.Reason).
		integer(4, planned.Least).integer(5, planned.Most).text(6, planned.Quota).integer(7, planned.QuotaPerMinute))
}

func (c *Call) push(kind int, message *writer) {
	if c.Err() == nil {
		c.wrong = c.connection.push(kind, message)
	}
}

// request asks what may be answered by a failure that the caller looks at.
func (c *Call) request(kind int, message *writer, take func(uint64, []byte) error) (*answer, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	return c.connection.request(kind, message, take)
}

// ask asks; a failure is the error.
func (c *Call) ask(kind int, message *writer) (*answer, error) {
	answer, err := c.request(kind, message, nil)
	if err != nil {
		return nil, err
	}
	return answer, answer.err()
}
